/* See batdispatch.abilities.sites.slurm.reserved_licences. */
#include <math.h>

#include "slurm.h"

void take_licences(Slurm *slurm, int64_t job, double start, double end)
{
    const Nodes *nodes = slurm->nodes;
    if (!slurm->licences || !nodes->licensed[nodes->kind[job]])
        return;
    slurm->held_from[slurm->held] = start, slurm->held_until[slurm->held] = end;
    slurm->held_by[slurm->held++] = job;
}

/* Return whether those who hold licences at a time leave too few of one for a job; `until`: when the first gives back. */
static bool is_missing(const Slurm *slurm, int64_t job, int64_t licence, double time, double *until)
{
    const Nodes *nodes = slurm->nodes;
    const int64_t *of_job = nodes->held + licence;
    int64_t asked = of_job[nodes->kind[job] * nodes->licences];
    *until = INFINITY;
    for (int64_t at = 0; at < slurm->held; at++)
        if (slurm->held_from[at] <= time && time < slurm->held_until[at]) {
            asked += of_job[nodes->kind[slurm->held_by[at]] * nodes->licences];
            *until = slurm->held_until[at] < *until ? slurm->held_until[at] : *until;
        }
    return asked > nodes->capacity[nodes->hosts * nodes->resources + licence];
}

/* The same of any licence. */
static bool is_any_missing(const Slurm *slurm, int64_t job, double time, double *until)
{
    for (int64_t licence = 0; licence < slurm->nodes->licences; licence++)
        if (is_missing(slurm, job, licence, time, until))
            return true;
    return false;
}

double licences_missing_until(const Slurm *slurm, int64_t job, double start, double end)
{
    const Nodes *nodes = slurm->nodes;
    double first = INFINITY, missing = 0.0, until;
    if (!slurm->licences || !nodes->licensed[nodes->kind[job]])
        return 0.0;
    if (is_any_missing(slurm, job, start, &until))
        return until;
    for (int64_t at = 0; at < slurm->held; at++) {
        double moment = slurm->held_from[at];
        if (start < moment && moment < end && moment < first && is_any_missing(slurm, job, moment, &until))
            first = moment, missing = until;
    }
    return missing;
}
