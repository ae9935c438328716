/* Numbers rounded to so many digits behind the point, exactly as Python rounds them.
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

/* From here on neighbouring doubles are further apart than the last digit, so rounding changes nothing. */
#define COARSE_SIX 0x1p33
#define COARSE_THREE 0x1p43

/* Return x * scale as the nearest whole number, ties to even; x from 0 to what is coarse for the scale, 1e3 or 1e6. */
static double nearest(double x, double scale)
{
    double scaled = x * scale;
    double high = 134217729.0 * x;
    high = high - (high - x);
    /* The scale has at most 14 significant bits, so that both products are exact. */
    double error = (high * scale - scaled) + (x - high) * scale;
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
    return x < COARSE_SIX ? nearest(x, 1e6) / 1e6 : x;
}

double round_three(double x)
{
    return x < COARSE_THREE ? nearest(x, 1e3) / 1e3 : x;
}
