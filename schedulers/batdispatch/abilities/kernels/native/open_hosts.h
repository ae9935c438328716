/* Which hosts advance reservations leave to a job: see batdispatch.core.machine.openings. */
#ifndef BATDISPATCH_OPEN_HOSTS_H
#define BATDISPATCH_OPEN_HOSTS_H

#include "nodes.h"

/* Take out of a set what is closed to a job that starts at a time, and return when that changes next. */
double close_hosts(const Nodes *nodes, int64_t job, double time, uint64_t *set);
/* Return the hosts that a job may use now, and where it is noted that it does not fit what is free. */
const uint64_t *hosts_of(const Nodes *nodes, int64_t job);
int64_t *unfit_of(const Nodes *nodes, int64_t job);
/* Return the hosts that a job may use if it starts at a time; and when that changes next, 0 if no reservation is in the
 * way. */
const uint64_t *hosts_at(const Nodes *nodes, int64_t job, double time, double *change);

#endif
