/* What fits on nodes where so much is free. */
#ifndef BATDISPATCH_NODE_FITS_H
#define BATDISPATCH_NODE_FITS_H

#include "nodes.h"

/* Sort hosts, those with the most room first, and the first ones in their order of equal ones. */
void sort_roomy(Roomy *roomy, int64_t count);
/* Return whether fewer licences are free than a job takes. */
bool lacks_licence(const Nodes *nodes, int64_t job, const int64_t *free);
/* Return whether a job fits on the hosts of a set where so much is free. */
bool fits_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set);
/* The same, wherever; and where so much is free as now. */
bool fits_anywhere(Nodes *nodes, int64_t job, const int64_t *free);
bool fits_now(Nodes *nodes, int64_t job);

#endif
