/* Slurm's multifactor priority: see batdispatch.parts.ordering.multifactor. batdispatch.abilities.kernels.multifactor makes
 * the structure.
 *
 * An owner is whose share a job is: a user, or a user in an account. */
#ifndef BATDISPATCH_MULTIFACTOR_H
#define BATDISPATCH_MULTIFACTOR_H

#include "nodes.h"
#include "state.h"

/* Share over use of an account and of an owner in it. */
typedef struct {
    double of_account;
    double of_owner;
    int64_t owner;
} Level;

typedef struct {
    /* Options of the ordering; `half_life` is infinite where nothing is forgotten. */
    double age;
    double max_age;
    double fairshare;
    double period;
    double half_life;
    int64_t fair_tree;
    /* By rank, what is the same at all times: minus `nice`, and what size and queues add. Whose share each job is. In the
     * period in which a job comes, its size adds `first_size`. */
    const double *base;
    const double *size;
    const double *first_size;
    const double *queue;
    const int32_t *owner;
    /* By owner: the account. */
    int64_t owners;
    const int32_t *account;
    int64_t accounts;
    /* Nodes that jobs share, and which of their resources are the cores; null: jobs have whole hosts. */
    const Nodes *nodes;
    int64_t axis;
    /* Of which moment the factors are; jobs that had come by then; and lines of the log that were read, and that there
     * were. */
    double moment;
    int64_t came;
    int64_t lines;
    int64_t seen;
    /* By owner: what jobs that have ended used, and the time of which this is said (nan: none has); and the jobs that came
     * and were not rejected, of which those that have started need not be counted. */
    double *ended;
    double *since;
    int64_t *came_by;
    /* Jobs that run, by their starts, ties by arrival; and by rank, the cores that each has or had. */
    int64_t running;
    int64_t *running_job;
    double *cores;
    /* Owners of whom something is known at that moment: first those of jobs that have ended, in this order. */
    int64_t enders;
    int64_t users;
    int32_t *user;
    /* By owner: what each has used, nan for who is no user; and the factor of the fair share. */
    double *used;
    double *factor;
    /* For the ranks of Fair Tree. By account: what its users have used, and how many they are. */
    Level *levels;
    int32_t *present;
    double *account_used;
    int64_t *account_users;
} Factors;

/* Return the priority of a waiting job, a whole number. */
double priority_of(Factors *factors, const State *state, int64_t job);

#endif
