#ifndef BATDISPATCH_DECIMALS_H
#define BATDISPATCH_DECIMALS_H

#include <stdint.h>

#include "export.h"

/* The most bytes that one of the numbers below takes. */
#define WIDEST 320
/* And one run of hosts. */
#define RUN 24

/* Write a whole number from 0, and return what is behind it, as all that write do. */
char *put_whole(char *out, int64_t number);
/* Write a number from 0, which may be infinite or none, as "%.6f" does, and store what is read there. */
char *put_six_digits(char *out, double number, double *read);
/* Write a number from 0 with so many significant digits, up to nine, as "%.9g" does. */
EXPORT char *put_significant(char *out, int64_t digits, double number);
/* Write so many runs of hosts, as in "0-3 5 7-8". */
char *put_runs(char *out, const int32_t *first, const int32_t *last, int64_t runs);

#endif
