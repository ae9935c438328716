/* Fields of plain lines of a CSV file: numbers as they are read, texts as stretches of the lines. Python makes the
 * structure in batdispatch.results.cells. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "export.h"

/* Up to here a whole number and a power of ten are doubles, so that their quotient is rounded once. */
#define EXACT (INT64_C(1) << 53)
enum { MOST_PLACES = 22 };

typedef struct {
    /* Whole lines, and their bytes. */
    const uint8_t *text;
    int64_t bytes;
    int64_t columns;
    /* By column: which one of the numbers, and of the texts, it is; -1: none. */
    const int64_t *number;
    const int64_t *word;
    /* Rows for which there is room. */
    int64_t room;
    /* By number and row. */
    double *numbers;
    /* By text and row: where it begins and ends, and whether it is that of the row before. */
    int64_t *begins;
    int64_t *ends;
    uint8_t *again;
    /* Numbers that are written in a way of their own: their row, which one of the numbers, and where. */
    int64_t *odd_rows;
    int64_t *odd_numbers;
    int64_t *odd_begins;
    int64_t *odd_ends;
    int64_t odds;
} JobCells;

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* Read digits with a point among them or none, and maybe a minus before; return whether these are all of the field. */
static bool read_plain(const uint8_t *at, const uint8_t *end, double *number)
{
    static const double powers[MOST_PLACES + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (at == end) {
        *number = NAN;
        return true;
    }
    bool negative = *at == '-';
    at += negative;
    int64_t whole = 0, places = 0;
    const uint8_t *first = at;
    for (; at < end && is_digit(*at) && whole < EXACT / 10; at++)
        whole = 10 * whole + (*at - '0');
    if (at == first)
        return false;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at) && whole < EXACT / 10 && places < MOST_PLACES; at++, places++)
            whole = 10 * whole + (*at - '0');
    double value = (double)whole / powers[places];
    *number = negative ? -value : value;
    return at == end;
}

static void put_number(JobCells *cells, int64_t row, int64_t column, int64_t begin, int64_t end)
{
    if (read_plain(cells->text + begin, cells->text + end, cells->numbers + column * cells->room + row))
        return;
    cells->odd_rows[cells->odds] = row;
    cells->odd_numbers[cells->odds] = column;
    cells->odd_begins[cells->odds] = begin;
    cells->odd_ends[cells->odds++] = end;
}

static void put_word(JobCells *cells, int64_t row, int64_t column, int64_t begin, int64_t end)
{
    int64_t place = column * cells->room + row, length = end - begin;
    cells->begins[place] = begin;
    cells->ends[place] = end;
    cells->again[place] = row && cells->ends[place - 1] - cells->begins[place - 1] == length
                          && !memcmp(cells->text + cells->begins[place - 1], cells->text + begin, (size_t)length);
}

/* Return where a field ends, its quotes included; -1: it is not plain, or the lines are over. */
static int64_t end_of(const JobCells *cells, int64_t at)
{
    const uint8_t *text = cells->text;
    int64_t end = at;
    if (end < cells->bytes && text[end] == '"')
        for (end++; end < cells->bytes && text[end] != '"'; end++)
            if (text[end] == '\n' || text[end] == '\r')
                return -1;
    end += end > at;
    bool quoted = end > at;
    for (; end < cells->bytes && text[end] != ',' && text[end] != '\n'; end++)
        if (quoted || text[end] == '"' || text[end] == '\r')
            return -1;
    return end < cells->bytes ? end : -1;
}

/* Take whole lines apart; return how many there are, or -1: not all of them are plain. A plain line has all fields, and
 * quotes only around whole fields without any. */
EXPORT int64_t read_cells(JobCells *cells)
{
    int64_t at = 0, row = 0;
    for (cells->odds = 0; at < cells->bytes; row++) {
        for (int64_t column = 0; column < cells->columns; column++) {
            int64_t end = end_of(cells, at);
            if (end < 0 || (cells->text[end] == '\n') != (column == cells->columns - 1))
                return -1;
            bool quoted = end > at && cells->text[at] == '"';
            if (cells->number[column] >= 0)
                put_number(cells, row, cells->number[column], at + quoted, end - quoted);
            if (cells->word[column] >= 0)
                put_word(cells, row, cells->word[column], at + quoted, end - quoted);
            at = end + 1;
        }
    }
    return row;
}
