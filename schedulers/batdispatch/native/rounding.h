#ifndef BATDISPATCH_ROUNDING_H
#define BATDISPATCH_ROUNDING_H

#include "export.h"

/* Return what Python's round(x, 6) returns, for x from 0 to infinity. */
EXPORT double round_six(double x);
/* Return what round(x, 3) returns. */
EXPORT double round_three(double x);

#endif
