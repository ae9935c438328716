/* Rows of jobs.csv, column by column. batdispatch.core.jobs.job_table says which there are, and
 * batdispatch.engines.job_rows makes the structures. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "decimals.h"
#include "export.h"
#include "texts.h"

/* Bytes of a line of machine_states.csv. */
enum { LINE = WIDEST + 100 };

/* A column: numbers, whole numbers, texts or host sets; the pointers of the others are null. */
typedef struct {
    /* Whether a row of a rejected job has nothing there. */
    int64_t of_those_that_ran;
    /* By row; each number becomes the one that is read where it stands. */
    double *numbers;
    const int64_t *wholes;
    /* Fields as they are written, and which one each row has; null: its own. */
    const uint8_t *texts;
    const int64_t *bounds;
    const int32_t *place;
    /* Runs of hosts; by row the first one, and how many there are. */
    const int32_t *first;
    const int32_t *last;
    const int64_t *at;
    const int64_t *runs;
} RowColumn;

typedef struct {
    const RowColumn *columns;
    int64_t column_count;
    /* By row, whether its job ran. */
    const uint8_t *ran;
} JobRows;

static int64_t place_of(const RowColumn *column, int64_t row)
{
    return column->place ? column->place[row] : row;
}

/* Write a number with its sign, also that of a zero, as Python does. */
static char *put_number(char *out, double *number)
{
    bool negative = signbit(*number) && !isnan(*number);
    if (negative)
        *out++ = '-';
    out = put_six_digits(out, fabs(*number), number);
    if (negative)
        *number = -*number;
    return out;
}

static char *put_field(const RowColumn *column, int64_t row, bool ran, char *out)
{
    if (column->of_those_that_ran && !ran) {
        if (column->numbers)
            column->numbers[row] = NAN;
        return out;
    }
    if (column->numbers)
        return put_number(out, column->numbers + row);
    if (column->wholes)
        return put_whole(out, column->wholes[row]);
    if (column->texts)
        return put_text(out, (Texts){column->texts, column->bounds}, place_of(column, row));
    return put_runs(out, column->first + column->at[row], column->last + column->at[row], column->runs[row]);
}

static int64_t most_bytes(const JobRows *rows, int64_t row)
{
    int64_t bytes = 0;
    for (int64_t each = 0; each < rows->column_count; each++) {
        const RowColumn *column = rows->columns + each;
        if (column->texts)
            bytes += 1 + length_of((Texts){column->texts, column->bounds}, place_of(column, row));
        else
            bytes += 1 + (column->runs ? RUN * column->runs[row] : WIDEST);
    }
    return bytes;
}

/* Write rows from `row` on and before `end`, as many as there is room for; return the row behind the last one, and in
 * `used` the bytes written. */
EXPORT int64_t write_job_rows(JobRows *rows, int64_t row, int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + most_bytes(rows, row) <= room; row++) {
        for (int64_t column = 0; column < rows->column_count; column++) {
            out = put_field(rows->columns + column, row, rows->ran[row], out);
            *out++ = ',';
        }
        out[-1] = '\n';
    }
    *used = out - begin;
    return row;
}

/* Write lines of machine_states.csv likewise: how many hosts idle and compute from `time` on. */
EXPORT int64_t write_state_rows(const double *time, const int64_t *idle, const int64_t *computing, int64_t row,
                                int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + LINE <= room; row++) {
        out = put(put_significant(out, 9, time[row]), ",0,0,0,");
        out = put_whole(out, idle[row]);
        *out++ = ',';
        out = put_whole(out, computing[row]);
        *out++ = '\n';
    }
    *used = out - begin;
    return row;
}
