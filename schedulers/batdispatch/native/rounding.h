#ifndef BATDISPATCH_ROUNDING_H
#define BATDISPATCH_ROUNDING_H

#include "export.h"

/* From here on neighbouring doubles are further apart than the last digit, so rounding changes nothing. */
#define COARSE_SIX 0x1p33
#define COARSE_THREE 0x1p43

/* Return x * scale as the nearest whole number, ties to even; x from 0 to what is coarse for the scale, 1e3 or 1e6. */
double nearest_whole(double x, double scale);
/* Return what Python's round(x, 6) returns, for x from 0 to infinity. */
EXPORT double round_six(double x);
/* Return the first microsecond that is not before x, and the last one that is not after x; for x >= 0. As
 * batdispatch.core.line.ticks has them. */
EXPORT double tick_after(double x);
EXPORT double tick_before(double x);
/* Return what round(x, 3) returns. */
EXPORT double round_three(double x);
/* Return x // y as Python does; for x >= 0 and y > 0. */
double whole_part(double x, double y);

#endif
