/* Numbers rounded to six digits behind the point, exactly as Python rounds them.
 *
 * A product such as x * 1e6 is off by its last digit, which matters where it comes out near a half. The error of a
 * product of doubles is a double itself [1], so that here the exact product is compared with the half.
 *
 * References: [1] Dekker: "A floating-point technique for extending the available precision", Numerische Mathematik 18,
 *     1971, section 5. */
#include "rounding.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* From here on neighbouring doubles are further apart than a microsecond, so rounding changes nothing. */
#define COARSE 8589934592.0 /* 2^33 */

/* Return x * 1e6 as the nearest whole number, ties to even; x from 0 to COARSE. */
static double millionths(double x)
{
    double scaled = x * 1e6;
    double high = 134217729.0 * x;
    high = high - (high - x);
    /* 1e6 has 14 significant bits, so that both products are exact. */
    double error = (high * 1e6 - scaled) + (x - high) * 1e6;
    double whole = rint(scaled);
    double rest = scaled - whole;
    bool odd = (int64_t)whole & 1;
    double above = (rest - 0.5) + error;
    if (above > 0.0 || (above == 0.0 && odd))
        return whole + 1.0;
    double below = (rest + 0.5) + error;
    if (below < 0.0 || (below == 0.0 && odd))
        return whole - 1.0;
    return whole;
}

double round_six(double x)
{
    return x < COARSE ? millionths(x) / 1e6 : x;
}
