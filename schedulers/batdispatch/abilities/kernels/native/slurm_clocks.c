/* See batdispatch.abilities.sites.slurm.clocks. */
#include <math.h>

#include "calls.h"
#include "extremes.h"
#include "rounding.h"
#include "slurm.h"

/* Seconds after which a moment is taken for missed, and between two looks at whether something has changed. */
#define TOLERANCE 0.01
#define POLL 1.0
/* Share of a step that is still on the grid. */
#define SLIVER 1e-9

/* Return the first of origin, origin + step, origin + 2 step, ... that does not lie before a time. */
static double on_grid(double time, double origin, double step)
{
    return time <= origin ? origin : round_six(origin + ceil((time - origin) / step - SLIVER) * step);
}

/* Take note of the runs for the whole queue that found nothing to do. */
static void pass_by(Slurm *slurm, double now)
{
    double passed = floor((now - slurm->last_full) / slurm->full_interval + SLIVER);
    if (passed < 1)
        return;
    double ran = round_six(slurm->last_full + passed * slurm->full_interval);
    if (now > ran + TOLERANCE)
        slurm->last_full = ran, slurm->last = larger_of(slurm->last, ran);
}

int64_t main_loop_due(State *state, Slurm *slurm, bool whole)
{
    if (!(slurm->tick > 0))
        return FOR_HEAD;
    double now = sooner_of(state->now, slurm->awaited);
    pass_by(slurm, now);
    double full = round_six(slurm->last_full + slurm->full_interval);
    double head = on_grid(larger_of(now - TOLERANCE, slurm->last + slurm->batch_delay), 0.0, slurm->tick);
    double moment = whole ? full : sooner_of(head, full);
    if (now < moment - TOLERANCE) {
        slurm->awaited = moment;
        call_at(state, moment);
        return NOT_NOW;
    }
    slurm->last = moment, slurm->awaited = INFINITY;
    if (moment < full)
        return FOR_HEAD;
    slurm->last_full = full;
    return FOR_WHOLE;
}

static double next_pass(const Slurm *slurm, double now)
{
    double first = round_six(slurm->pass_last + slurm->interval);
    return on_grid(now - TOLERANCE, first, slurm->pass_busy ? slurm->interval : POLL);
}

void pass_changed(Slurm *slurm, double now)
{
    slurm->pass_awaited = INFINITY;
    /* Not true of nan. */
    if (slurm->silent <= now + TOLERANCE)
        slurm->pass_last = slurm->silent, slurm->pass_busy = 0;
    slurm->silent = next_pass(slurm, now);
}

bool pass_due(State *state, Slurm *slurm)
{
    if (!(slurm->interval > 0))
        return true;
    double now = sooner_of(state->now, slurm->pass_awaited);
    if (!isnan(slurm->silent)) {
        pass_changed(slurm, now);
        slurm->silent = NAN;
    }
    double moment = next_pass(slurm, now);
    if (now < moment - TOLERANCE) {
        slurm->pass_awaited = moment;
        call_at(state, moment);
        return false;
    }
    slurm->pass_last = moment, slurm->pass_busy = 1, slurm->pass_awaited = INFINITY;
    return true;
}
