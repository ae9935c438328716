/* Rows of jobs.csv, from columns of jobs. batdispatch.engines.job_rows says what they mean, and makes the structure. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "decimals.h"
#include "export.h"
#include "texts.h"

/* As in batdispatch.engines.job_rows. */
#define NO_TIME 1e-5
#define INSTANT 1e-10
#define SHORT 1e-9
/* Bytes of a row without its names and hosts. */
enum { FIXED = 9 * WIDEST + 200 };

/* Times are in seconds. */
typedef struct {
    /* What is known of each job. */
    const double *submission;
    const double *walltime;
    const double *start;
    const double *end;
    const int64_t *units;
    const int32_t *profile;
    /* The first run of each job's hosts, and how many there are. */
    const int64_t *hosts_at;
    const int32_t *hosts_runs;
    const int32_t *first;
    const int32_t *last;
    /* Joules of each job's hosts, below 0 where they were not counted, or null; and by row as they are read there. */
    const double *joules;
    double *row_joules;
    /* Names of the jobs, and of the profiles; what stands for success and final state, by state. */
    const uint8_t *names;
    const int64_t *names_bounds;
    const uint8_t *profiles;
    const int64_t *profiles_bounds;
    const uint8_t *outcomes;
    const int64_t *outcomes_bounds;
    /* Workload and metadata of each job; null: all are of workload w0 and have none. */
    const uint8_t *workloads;
    const int64_t *workloads_bounds;
    const uint8_t *metadata;
    const int64_t *metadata_bounds;
    /* By row: the job, and its state; those of rejected and of killed jobs. */
    const int64_t *over;
    const int8_t *state;
    int64_t rejected;
    int64_t killed;
    /* By row: the numbers as they are read there. */
    double *row_submission;
    double *row_walltime;
    double *row_start;
    double *row_run;
    double *row_end;
    double *row_wait;
    double *row_turnaround;
    double *row_stretch;
    /* Over the rows of jobs that ran, and before anything is rounded. */
    double wait_sum;
    double turnaround_sum;
    double slowdown_sum;
    double wait_most;
    double turnaround_most;
    double slowdown_most;
    double makespan;
} JobRows;

static char *put_number(char *out, double number, double *read)
{
    out = put_six_digits(out, number, read);
    *out++ = ',';
    return out;
}

static char *put_times(JobRows *rows, int64_t row, char *out)
{
    int64_t job = rows->over[row];
    double start = rows->start[job], submission = rows->submission[job];
    bool is_short = rows->end[job] - start < SHORT, killed = rows->state[row] == rows->killed;
    double end = !is_short ? rows->end[job] : killed ? start : start + NO_TIME;
    double run = end - start, wait = start - submission, turnaround = end - submission;
    double more = is_short && killed ? INSTANT : 0.0;
    double stretch = (turnaround + more) / (run + more);
    rows->wait_sum += wait;
    rows->turnaround_sum += turnaround;
    rows->slowdown_sum += stretch;
    rows->wait_most = fmax(rows->wait_most, wait);
    rows->turnaround_most = fmax(rows->turnaround_most, turnaround);
    rows->slowdown_most = fmax(rows->slowdown_most, stretch);
    rows->makespan = fmax(rows->makespan, end);
    out = put_number(out, start, rows->row_start + row);
    out = put_number(out, run, rows->row_run + row);
    out = put_number(out, end, rows->row_end + row);
    out = put_number(out, wait, rows->row_wait + row);
    out = put_number(out, turnaround, rows->row_turnaround + row);
    return put_number(out, stretch, rows->row_stretch + row);
}

static char *put_no_times(JobRows *rows, int64_t row, char *out)
{
    double *columns[] = {rows->row_start, rows->row_run, rows->row_end,
                         rows->row_wait, rows->row_turnaround, rows->row_stretch};
    for (int64_t column = 0; column < 6; column++)
        columns[column][row] = NAN;
    return put(out, ",,,,,,");
}

static char *put_row(JobRows *rows, int64_t row, char *out)
{
    int64_t job = rows->over[row], at = rows->hosts_at[job];
    bool ran = rows->state[row] != rows->rejected;
    out = put_text(out, (Texts){rows->names, rows->names_bounds}, job);
    *out++ = ',';
    out = rows->workloads ? put_text(out, (Texts){rows->workloads, rows->workloads_bounds}, job) : put(out, "w0");
    *out++ = ',';
    out = put_text(out, (Texts){rows->profiles, rows->profiles_bounds}, rows->profile[job]);
    *out++ = ',';
    out = put_number(out, rows->submission[job], rows->row_submission + row);
    out = put_whole(out, rows->units[job]);
    *out++ = ',';
    if (isinf(rows->walltime[job])) {
        rows->row_walltime[row] = -1.0;
        out = put(out, "-1.000000,");
    } else {
        out = put_number(out, rows->walltime[job], rows->row_walltime + row);
    }
    out = put_text(out, (Texts){rows->outcomes, rows->outcomes_bounds}, rows->state[row]);
    out = ran ? put_times(rows, row, out) : put_no_times(rows, row, out);
    if (ran)
        out = put_runs(out, rows->first + at, rows->last + at, rows->hosts_runs[job]);
    *out++ = ',';
    if (ran && rows->joules && !(rows->joules[job] < 0.0))
        out = put_six_digits(out, rows->joules[job], rows->row_joules + row);
    else
        out = put(out, ran ? "-1.000000" : "");
    out = put(out, ",\"");
    if (rows->metadata)
        out = put_text(out, (Texts){rows->metadata, rows->metadata_bounds}, job);
    return put(out, "\"\n");
}

static int64_t most_bytes(const JobRows *rows, int64_t row)
{
    int64_t job = rows->over[row];
    int64_t names = length_of((Texts){rows->names, rows->names_bounds}, job)
                    + length_of((Texts){rows->profiles, rows->profiles_bounds}, rows->profile[job]);
    if (rows->workloads)
        names += length_of((Texts){rows->workloads, rows->workloads_bounds}, job)
                 + length_of((Texts){rows->metadata, rows->metadata_bounds}, job);
    return FIXED + names + RUN * (int64_t)rows->hosts_runs[job];
}

/* Write rows from `row` on and before `end`, as many as there is room for; return the row behind the last one, and in
 * `used` the bytes written. */
EXPORT int64_t write_job_rows(JobRows *rows, int64_t row, int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + most_bytes(rows, row) <= room; row++)
        out = put_row(rows, row, out);
    *used = out - begin;
    return row;
}

/* Write lines of machine_states.csv likewise: how many hosts idle and compute from `time` on. */
EXPORT int64_t write_state_rows(const double *time, const int64_t *idle, const int64_t *computing, int64_t row,
                                int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + FIXED <= room; row++) {
        out = put(put_significant(out, 9, time[row]), ",0,0,0,");
        out = put_whole(out, idle[row]);
        *out++ = ',';
        out = put_whole(out, computing[row]);
        *out++ = '\n';
    }
    *used = out - begin;
    return row;
}
