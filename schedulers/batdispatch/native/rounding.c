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

double nearest_whole(double x, double scale)
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
    return x < COARSE_SIX ? nearest_whole(x, 1e6) / 1e6 : x;
}

/* Return by how much x may be off a microsecond that is meant. */
static double sliver_of(double x)
{
    return x * 0x1p-51 > 1e-9 ? x * 0x1p-51 : 1e-9;
}

double tick_after(double x)
{
    double nearest = round_six(x);
    return x == nearest || x - nearest <= sliver_of(x) ? nearest : round_six(nearest + 1e-6);
}

double tick_before(double x)
{
    double nearest = round_six(x);
    return x == nearest || nearest - x <= sliver_of(x) ? nearest : round_six(nearest - 1e-6);
}

double round_three(double x)
{
    return x < COARSE_THREE ? nearest_whole(x, 1e3) / 1e3 : x;
}

double whole_part(double x, double y)
{
    /* As float_divmod of CPython, without its cases for signs. */
    double parts = (x - fmod(x, y)) / y, whole = floor(parts);
    return parts - whole > 0.5 ? whole + 1.0 : whole;
}
