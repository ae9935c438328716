/* Numbers as decimal texts, exactly as Python's formats write them. */
#include "decimals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rounding.h"

enum { MILLION = 1000000 };

char *put_whole(char *out, int64_t number)
{
    char digits[20];
    char *first = digits + sizeof digits;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    size_t length = (size_t)(digits + sizeof digits - first);
    memcpy(out, first, length);
    return out + length;
}

static char *put_millionths(char *out, int64_t millionths)
{
    *out++ = '.';
    for (int64_t place = 5; place >= 0; place--, millionths /= 10)
        out[place] = (char)('0' + millionths % 10);
    return out + 6;
}

char *put_six_digits(char *out, double number, double *read)
{
    /* A ratio to a time that is lost beside a late start. */
    if (!isfinite(number)) {
        *read = number;
        memcpy(out, isnan(number) ? "nan" : "inf", 3);
        return out + 3;
    }
    *read = number;
    /* Whole, so that printf writes no point, which the locale may replace. */
    if (number >= 0x1p62)
        return put_millionths(out + sprintf(out, "%.0f", number), 0);
    double before = floor(number);
    int64_t whole = (int64_t)before, rest = 0;
    if (number < COARSE_SIX && number != before) {
        double millionths = nearest_whole(number, 1e6);
        *read = millionths / 1e6;
        whole = (int64_t)millionths / MILLION;
        rest = (int64_t)millionths % MILLION;
    } else if (number != before) {
        /* A multiple of 2^-19, so that the product is exact; and the number is the double closest to its text. */
        rest = (int64_t)rint((number - before) * 1e6);
    }
    return put_millionths(put_whole(out, whole), rest);
}

/* Write what printf writes, with a point whatever the locale has in its place. */
static char *put_by_printf(char *out, int64_t digits, double number)
{
    char text[WIDEST];
    snprintf(text, sizeof text, "%.*g", (int)digits, number);
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789e+-", *from))
            *out++ = *from;
        else if (from == text || strchr("0123456789", from[-1]))
            *out++ = '.';
    }
    return out;
}

static int64_t power_of_ten(int64_t exponent)
{
    int64_t power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

/* Write so many places behind the point, without zeros at the end. */
static char *put_places(char *out, int64_t rest, int64_t places)
{
    if (!rest)
        return out;
    for (; rest % 10 == 0; places--)
        rest /= 10;
    *out++ = '.';
    for (int64_t place = places - 1; place >= 0; place--, rest /= 10)
        out[place] = (char)('0' + rest % 10);
    return out + places;
}

char *put_significant(char *out, int64_t digits, double number)
{
    int64_t most = power_of_ten(digits), whole = number < 0x1p53 ? (int64_t)number : 0, places = digits;
    if (number < (double)most && number == (double)whole)
        return put_whole(out, whole);
    for (int64_t left = whole; left; left /= 10)
        places--;
    /* What `nearest_whole` does not round, and numbers that get one digit more, are rare. */
    if (!whole || places > 6)
        return put_by_printf(out, digits, number);
    int64_t scale = power_of_ten(places < 0 ? -places : places), parts = whole / scale, rest = 2 * (whole % scale);
    if (places >= 0)
        parts = (int64_t)nearest_whole(number, (double)scale);
    else
        parts += rest > scale || (rest == scale && (number > (double)whole || parts % 2));
    if (parts == most)
        return put_by_printf(out, digits, number);
    if (places >= 0)
        return put_places(put_whole(out, parts / scale), parts % scale, places);
    out = put_places(put_whole(out, parts / (most / 10)), parts % (most / 10), digits - 1);
    *out++ = 'e', *out++ = '+';
    if (digits - places <= 10)
        *out++ = '0';
    return put_whole(out, digits - places - 1);
}

char *put_runs(char *out, const int32_t *first, const int32_t *last, int64_t runs)
{
    for (int64_t run = 0; run < runs; run++) {
        if (run)
            *out++ = ' ';
        out = put_whole(out, first[run]);
        if (last[run] > first[run]) {
            *out++ = '-';
            out = put_whole(out, last[run]);
        }
    }
    return out;
}
