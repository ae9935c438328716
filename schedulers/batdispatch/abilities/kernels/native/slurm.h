/* What the kernel of slurm-backfill knows beside the state of the simulation: see batdispatch.abilities.sites.slurm, whose
 * files the files here follow one by one. batdispatch.abilities.kernels.slurm makes the structure. Times are in seconds. */
#ifndef BATDISPATCH_SLURM_H
#define BATDISPATCH_SLURM_H

#include "foresight.h"
#include "host_sets.h"
#include "nodes.h"
#include "queue_order.h"

/* How a clock answers: the main loop runs not now, for the head of the queue, or for all of it. */
enum { NOT_NOW, FOR_HEAD, FOR_WHOLE };
/* When hosts are to be free: now, or once the jobs have ended that were given back. */
enum { NOW, THEN };

typedef struct {
    /* Options of the dispatcher, see there; `most_tried` is what `depth` and `version` say, and `consecutive` is whether
     * jobs are placed so, and not on the lowest hosts; `licences` is whether they are reserved. */
    double tick;
    double batch_delay;
    double full_interval;
    int64_t queue_depth;
    double interval;
    double window;
    double resolution;
    double clock;
    int64_t most_tried;
    int64_t starts;
    int64_t user_jobs;
    int64_t part_jobs;
    int64_t reservations;
    double min_age;
    double end_window;
    double window_linear;
    int64_t consecutive;
    int64_t licences;
    /* Clock of the main loop: when it ran, for the head and for the whole queue, and the call that it waits for. */
    double last;
    double last_full;
    double awaited;
    /* Clock of the passes: the last one; whether jobs waited then; when one is due that nobody was called for (nan:
     * none); and the call that it waits for. */
    double pass_last;
    int64_t pass_busy;
    double silent;
    double pass_awaited;
    /* What is to come: the main loop, for the head of the queue or for all of it, and a pass. */
    int64_t head_asked;
    int64_t whole_asked;
    int64_t pass_asked;
    /* Passes, and jobs that they have started. */
    int64_t passes;
    int64_t backfilled;
    /* Of this pass: jobs tried; when the first reservation begins; and whether jobs were left. */
    int64_t tried;
    double first_reserved;
    int64_t stopped;
    /* Nodes that jobs share; null: they take whole hosts, any ones, and `idle` says which are free. */
    Nodes *nodes;
    /* Words of each set of hosts: all hosts, and those that are free. */
    int64_t words;
    uint64_t *hosts;
    uint64_t *idle;
    /* Of this pass: from `begin` on, when each record ends, ascending, and the row of the hosts that are reserved for
     * nobody in it; and how often something was reserved. */
    double begin;
    int64_t records;
    int64_t most_records;
    double *ends;
    int32_t *row;
    uint64_t *rows;
    int64_t changes;
    /* Of this pass: who holds licences, from when and until when. */
    int64_t held;
    double *held_from;
    double *held_until;
    int64_t *held_by;
    /* For a search: the hosts that a job may have, those that are free once others have ended, and those it gets. */
    uint64_t *allowed;
    uint64_t *given;
    uint64_t *place;
    Run *runs;
    /* By rank: the partition of each job. Of each partition: its hosts, and jobs tried and in reservations in this pass. */
    const int32_t *part;
    int64_t parts;
    const uint64_t *part_hosts;
    int64_t *tried_in;
    int64_t *reserved_in;
    /* By rank: the line in which each job stands, that of its partition, or one behind these of an advance reservation;
     * and whether a job of a line holds up the others in this run of the main loop. */
    const int32_t *line;
    int64_t lines;
    int64_t *failed;
    /* By rank: whose each job is; and by user: jobs tried in this pass. */
    const int32_t *user;
    int64_t users;
    int32_t *tried_of;
} Slurm;

/* Say whether the main loop runs now; if not, ask for a call. If it runs, that counts as run. `whole`: only a run for the
 * whole queue is waited for. */
int64_t main_loop_due(State *state, Slurm *slurm, bool whole);
/* Note a change that comes while no job waits. */
void pass_changed(Slurm *slurm, double now);
/* Say whether a pass is made now; if not, ask for a call. */
bool pass_due(State *state, Slurm *slurm);

/* Begin with nothing reserved. */
void begin_records(Slurm *slurm, double now);
/* Reserve hosts from a start to an end. */
void reserve_hosts(Slurm *slurm, const uint64_t *hosts, double start, double end);
/* Let `allowed` be the hosts of a job that are reserved for nobody from a start to an end, and return when to look again;
 * 0: never. */
double find_allowed(Slurm *slurm, int64_t job, double start, double end);
/* Return whether hosts are somebody's in that time. */
bool are_reserved(const Slurm *slurm, const uint64_t *hosts, double start, double end);
/* Return a time rounded down to the resolution. */
double rounded(const Slurm *slurm, double time);
/* Let a job hold its licences from a start to an end, if these are reserved. */
void take_licences(Slurm *slurm, int64_t job, double start, double end);
/* Return when to look again if licences are reserved and a job lacks some between a start and an end; 0: it does not. */
double licences_missing_until(const Slurm *slurm, int64_t job, double start, double end);

/* Find when a job could start on hosts of `allowed`, and its `place` there; false: never. */
bool will_run(State *state, Slurm *slurm, int64_t job, bool now_only, double *begin);
/* Return whether a job may fit now: false only if it surely does not. */
bool may_fit_now(const State *state, const Slurm *slurm, int64_t job);
/* Let `place` be where a job goes among those hosts of `allowed` that are free at a time, and return whether it fits. */
bool choose_hosts(const State *state, Slurm *slurm, int64_t job, int64_t when);
/* Return whether a running job has any of the hosts of a set. */
bool shares_hosts(const State *state, int64_t job, const uint64_t *set);
/* Start a job on the hosts of `place`. */
void start_on_place(State *state, Slurm *slurm, int64_t job);
/* Make a pass over the jobs in `order`, and return how many it started. */
int64_t make_pass(State *state, Slurm *slurm, const Order *order);

#endif
