/* What a kernel knows of the simulation that it runs: batdispatch.abilities.kernels.state makes it.
 *
 * A job is a number, its rank: the position in the order in which jobs are submitted. Times are in seconds, on a clock
 * of microseconds. Arrays have room for all that may come, apart from `first` and `last`. */
#ifndef BATDISPATCH_STATE_H
#define BATDISPATCH_STATE_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

/* Elsewhere sums would be rounded twice, and the last digit would not be Python's. */
#if FLT_EVAL_METHOD != 0
#error "doubles are not computed as doubles"
#endif

/* No host, no job. */
enum { UNKNOWN = -1 };
/* What a line of `log` tells of a job: job * KINDS + kind. */
enum { ENDS, STARTS, REJECTS, KINDS };
/* What a kernel returns: all jobs are over; it was to stop here; something is full; a place is too short; jobs came of
 * which Python is to predict how long they run. */
enum { ALL_OVER, AT_PAUSE, FULL, AT_STOP, ASKS };
/* Calls that a decision may ask for. */
enum { MOST_ASKED = 5 };
/* In `least`: nobody waits here. */
#define NOBODY INT32_MAX

/* See sleepers.h. */
typedef struct Sleepers Sleepers;

typedef struct {
    /* What is known of the jobs. */
    int64_t jobs;
    const double *submission;
    const int64_t *units;
    /* How long each computes if nothing stops it; infinite for no walltime; for how long its hosts are kept. */
    const double *delay;
    const double *walltime;
    const double *booked;
    /* When a job that has not started is rejected; null: none is after it came. */
    const double *expires;
    /* Place in the queue, in an order that does not change; and the job of each place. */
    const int64_t *place;
    const int64_t *of_place;
    /* Number of hosts; leaves of the tree of the queue; runs that `first` and `last` have room for. */
    int64_t size;
    int64_t leaves;
    int64_t room;
    double now;
    int64_t submissions;
    int64_t waiting;
    int64_t running;
    /* Jobs started; their order breaks ties of simultaneous ends. */
    int64_t starts;
    /* Hosts that are free, and runs of them. */
    int64_t free;
    int64_t free_runs;
    /* Lines of `log`, runs of hosts of all jobs started, messages that the engine would have exchanged. */
    int64_t lines;
    int64_t runs;
    int64_t messages;
    /* Whether hosts were freed since the last decision; whether a moment's events are over, and it has to be decided. */
    int64_t freed;
    int64_t decides;
    /* EASY: for whom room was reserved, or UNKNOWN; when it may start; hosts that it leaves spare then; hosts above this
     * one are spare, or UNKNOWN. */
    int64_t head;
    double shadow;
    int64_t spare;
    int64_t threshold;
    /* Conservative: jobs submitted by the last decision. */
    int64_t decided;
    /* Times of calls that are to come, ascending, and how many there is room for. */
    int64_t calls;
    int64_t most_calls;
    double *call;
    double *start;
    double *end;
    int64_t *log;
    /* The first run of each job's hosts, and how many there are; runs are in ascending order. */
    int64_t *hosts_at;
    int32_t *hosts_runs;
    int32_t *first;
    int32_t *last;
    /* Runs of free hosts in descending order, so that the lowest stand at the end, where most changes are. */
    int32_t *free_first;
    int32_t *free_last;
    /* The jobs in order of their start; and a heap of those that run, by their end and their place in that order. */
    int64_t *started;
    double *due;
    int64_t *due_turn;
    /* Running jobs by (expected end, rank), ascending. */
    double *expected;
    int64_t *expected_job;
    /* Binary tree over the places of the queue: units of the smallest job that waits below each node, and the seconds
     * that the shortest is booked for. */
    int32_t *least;
    double *shortest;
    /* Hosts that sleep; null: none does. */
    Sleepers *sleepers;
} State;

#endif
