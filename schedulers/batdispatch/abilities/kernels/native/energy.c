/* What hosts burn in a simulation in a kernel, from what has happened: batdispatch.abilities.power.engine.power_states
 * and energy, digit by digit, where jobs only wait. batdispatch.abilities.kernels.energy makes the structure. */
#include <math.h>
#include <stdbool.h>

#include "decimals.h"
#include "export.h"
#include "rounding.h"
#include "sleepers.h"
#include "texts.h"

/* What a switch of some turn burns: passing by without and with a load, and in the new state with it and without. */
enum { PASSING, BUSY, ARRIVING, RESTING, WATTS };
/* What hosts do, as the columns of machine_states.csv; seconds are summed of the first ones, which are COUNTED. */
enum { SLEEPING, RISING, FALLING, IDLE, COMPUTING, COLUMNS, COUNTED = IDLE };
/* Most bytes of a row without its hosts. */
enum { ROW = 4 * WIDEST + 40 };

typedef struct {
    /* The log, see state.h and sleepers.h. */
    int64_t lines;
    const int64_t *log;
    const double *start;
    const double *stop;
    const int64_t *hosts_at;
    const int32_t *hosts_runs;
    const int32_t *first;
    const int32_t *last;
    int64_t events;
    const int64_t *event;
    const double *event_at;
    const int64_t *event_line;
    const int64_t *turn;
    const int64_t *at;
    const int64_t *pieces;
    const int32_t *switch_first;
    const int32_t *switch_last;
    /* When the first job comes, s; whether energy is integrated, or charged as SimGrid does. */
    double submission;
    int64_t exact;
    /* Number of hosts; of each: watts, joules, until when these are charged, since when it is in its state, when it last
     * changed, how many jobs it runs. */
    int64_t hosts;
    double *watts;
    double *joules;
    double *until;
    double *since;
    double *changed;
    int32_t *busy;
    double *some;
    /* When all hosts were charged, if none was since, s (nan: one was), and their joules then. */
    double charged;
    double sum;
    /* By turn: watts, WATTS each; what a host that passes and one that arrives adds to the least watts. */
    const double *switch_watts;
    const double *switch_least;
    /* By row, one for each start, end, and begin and end of a switch: what Batsim writes. `what` is s, e or p; `count`,
     * COLUMNS each: how many hosts do what; `row_when` and `row_total`: what is read in consumed_energy.csv. */
    int64_t rows;
    double *when;
    double *total;
    double *least;
    uint8_t *what;
    double *row_when;
    double *row_total;
    int64_t *count;
    /* By job: joules of its hosts while it ran. */
    double *burnt;
    /* Joules at the first submission (nan: none was yet) and at the last end; seconds in the states that count. */
    double begun;
    double ended;
    double *spent;
    double least_now;
    int64_t *count_now;
} Energy;

EXPORT void count_energy(Energy *e);
/* Write rows of consumed_energy.csv from `row` on and before `end`, as many as there is room for; return the row behind
 * the last one, and in `used` the bytes written. */
EXPORT int64_t write_energy_rows(const Energy *e, int64_t row, int64_t end, char *out, int64_t room, int64_t *used);
/* Write lines of machine_states.csv likewise. */
EXPORT int64_t write_power_rows(const Energy *e, int64_t row, int64_t end, char *out, int64_t room, int64_t *used);
/* Write rows of pstate_changes.csv likewise, for events; `targets`: what stands for each turn when it is decided and when it
 * is over. */
EXPORT int64_t write_pstate_rows(const Energy *e, const int64_t *targets, int64_t row, int64_t end, char *out, int64_t room,
                                 int64_t *used);

/* Add numbers in the order of numpy.add.reduce. */
static double sum(const double *number, int64_t count)
{
    if (count > 128) {
        int64_t half = count / 2 - count / 2 % 8;
        return sum(number, half) + sum(number + half, count - half);
    }
    double part[8], found = 0.0;
    int64_t index = 0;
    if (count >= 8) {
        for (int64_t lane = 0; lane < 8; lane++)
            part[lane] = number[lane];
        for (index = 8; index + 8 <= count; index += 8)
            for (int64_t lane = 0; lane < 8; lane++)
                part[lane] += number[index + lane];
        found = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; index < count; index++)
        found += number[index];
    return found;
}

/* Hosts in runs of consecutive ids. */
typedef struct {
    const int32_t *first;
    const int32_t *last;
    int64_t runs;
} Hosts;

static Hosts of_job(const Energy *e, int64_t job)
{
    return (Hosts){e->first + e->hosts_at[job], e->last + e->hosts_at[job], e->hosts_runs[job]};
}

static Hosts of_switch(const Energy *e, int64_t number)
{
    return (Hosts){e->switch_first + e->at[number], e->switch_last + e->at[number], e->pieces[number]};
}

#define EACH(hosts, host)                                    \
    for (int64_t run_ = 0; run_ < (hosts).runs; run_++)      \
        for (int64_t host = (hosts).first[run_]; host <= (hosts).last[run_]; host++)

/* Return the sum of a column over hosts. */
static double sum_over(const Energy *e, Hosts hosts, const double *column, int64_t *number)
{
    int64_t found = 0;
    EACH (hosts, host)
        e->some[found++] = column[host];
    *number = found;
    return sum(e->some, found);
}

static void charge(Energy *e, int64_t host, double now)
{
    e->joules[host] += e->watts[host] * (now - e->until[host]);
    e->until[host] = now;
}

static void charge_hosts(Energy *e, Hosts hosts, double now)
{
    if (now == e->charged)
        return;
    e->charged = NAN;
    EACH (hosts, host)
        charge(e, host, now);
}

/* Charge all hosts, and return their joules. */
static double look_at_all(Energy *e, double now)
{
    if (now != e->charged) {
        for (int64_t host = 0; host < e->hosts; host++)
            charge(e, host, now);
        e->charged = now, e->sum = sum(e->joules, e->hosts);
    }
    return e->sum;
}

static double add_row(Energy *e, uint8_t what, double now)
{
    int64_t row = e->rows;
    e->when[row] = now, e->least[row] = e->least_now, e->what[row] = what;
    return e->total[row] = look_at_all(e, now);
}

/* Write down how many hosts do what after the change that belongs to a row, and begin the next row. */
static void end_row(Energy *e)
{
    for (int64_t column = 0; column < COLUMNS; column++)
        e->count[e->rows * COLUMNS + column] = e->count_now[column];
    e->rows++;
}

static void start_job_rows(Energy *e, int64_t job)
{
    int64_t number;
    add_row(e, 's', e->start[job]);
    e->burnt[job] = sum_over(e, of_job(e, job), e->joules, &number);
    EACH (of_job(e, job), host)
        if (e->busy[host]++ == 0)
            e->count_now[IDLE]--, e->count_now[COMPUTING]++;
    end_row(e);
}

static void end_job_rows(Energy *e, int64_t job)
{
    int64_t number;
    e->ended = add_row(e, 'e', e->stop[job]);
    e->burnt[job] = sum_over(e, of_job(e, job), e->joules, &number) - e->burnt[job];
    EACH (of_job(e, job), host)
        if (--e->busy[host] == 0) {
            e->count_now[COMPUTING]--, e->count_now[IDLE]++;
            e->changed[host] = e->stop[job];
        }
    end_row(e);
}

/* Let hosts do something else. */
static void move(Energy *e, Hosts hosts, int64_t from, int64_t to, double now)
{
    int64_t number;
    double since = sum_over(e, hosts, e->since, &number);
    if (from < COUNTED)
        e->spent[from] += now * (double)number - since;
    e->count_now[from] -= number, e->count_now[to] += number;
    EACH (hosts, host)
        e->since[host] = e->changed[host] = now;
}

/* Let hosts that switch burn something else, after a charge if there is one. */
static void burn(Energy *e, int64_t number, int64_t watts, bool charges, double now)
{
    if (charges)
        charge_hosts(e, of_switch(e, number), now);
    EACH (of_switch(e, number), host)
        e->watts[host] = e->switch_watts[e->turn[number] * WATTS + watts];
}

/* Add to the least watts, host by host. */
static void add_least(Energy *e, int64_t number, int64_t which)
{
    EACH (of_switch(e, number), host)
        e->least_now += e->switch_least[e->turn[number] * 2 + which];
}

static void decide_switch(Energy *e, int64_t number, double now)
{
    bool up = e->turn[number] % WAYS == UP;
    add_row(e, 'p', now);
    burn(e, number, PASSING, true, now);
    add_least(e, number, 0);
    move(e, of_switch(e, number), up ? SLEEPING : IDLE, up ? RISING : FALLING, now);
    end_row(e);
}

static void end_switch(Energy *e, int64_t number, double now)
{
    bool up = e->turn[number] % WAYS == UP;
    burn(e, number, ARRIVING, true, now);
    add_least(e, number, 1);
    move(e, of_switch(e, number), up ? RISING : FALLING, up ? IDLE : SLEEPING, now);
    add_row(e, 'p', now);
    end_row(e);
}

/* Batsim looks when the first job comes, before anything else happens at this moment. */
static void submit_by(Energy *e, double now)
{
    if (isnan(e->begun) && e->submission <= now && e->submission < INFINITY)
        e->begun = e->ended = look_at_all(e, e->submission);
}

static void replay_event(Energy *e, int64_t index)
{
    int64_t number = e->event[index] / PHASES, phase = e->event[index] % PHASES;
    double at = e->event_at[index];
    if (phase == DECISION || phase == ARRIVAL)
        submit_by(e, at);
    if (phase == LOOK && round_six(at) > e->submission)
        submit_by(e, at);
    if (phase == DECISION)
        decide_switch(e, number, at);
    else if (phase == LOADING)
        burn(e, number, BUSY, e->exact, at);
    else if (phase == LOOK)
        charge_hosts(e, of_switch(e, number), at);
    else if (phase == ARRIVAL)
        end_switch(e, number, at);
    else
        burn(e, number, RESTING, e->exact, at);
}

void count_energy(Energy *e)
{
    int64_t index = 0;
    for (int64_t line = 0; line < e->lines; line++) {
        for (; index < e->events && e->event_line[index] <= line; index++)
            replay_event(e, index);
        int64_t job = e->log[line] / KINDS, kind = e->log[line] % KINDS;
        if (kind == REJECTS)
            continue;
        submit_by(e, kind == STARTS ? e->start[job] : e->stop[job]);
        if (kind == STARTS)
            start_job_rows(e, job);
        else
            end_job_rows(e, job);
    }
    for (; index < e->events; index++)
        replay_event(e, index);
    submit_by(e, INFINITY);
}

static char *put_signed(char *out, double number, double *read)
{
    if (signbit(number))
        *out++ = '-';
    out = put_six_digits(out, fabs(number), read);
    *read = copysign(*read, number);
    return out;
}

static char *put_energy_row(const Energy *e, int64_t row, char *out)
{
    double time = e->when[row], joules = e->total[row], read;
    double since = row ? e->when[row - 1] : 0.0, before = row ? e->total[row - 1] : 0.0;
    out = put_signed(out, time, e->row_when + row);
    *out++ = ',';
    out = put_signed(out, joules, e->row_total + row);
    *out++ = ',';
    *out++ = (char)e->what[row];
    *out++ = ',';
    out = put_signed(out, e->least[row], &read);
    out = time > since ? put_signed(put(out, ","), (joules - before) / (time - since), &read) : put(out, ",NA");
    return put(out, "\n");
}

int64_t write_energy_rows(const Energy *e, int64_t row, int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + ROW <= room; row++)
        out = put_energy_row(e, row, out);
    *used = out - begin;
    return row;
}

int64_t write_power_rows(const Energy *e, int64_t row, int64_t end, char *out, int64_t room, int64_t *used)
{
    char *begin = out;
    for (; row < end && out - begin + ROW <= room; row++) {
        const int64_t *count = e->count + row * COLUMNS;
        out = put_significant(out, 9, e->when[row]);
        for (int64_t column = 0; column < COLUMNS; column++)
            out = put_whole(put(out, ","), count[column]);
        out = put(out, "\n");
    }
    *used = out - begin;
    return row;
}

int64_t write_pstate_rows(const Energy *e, const int64_t *targets, int64_t row, int64_t end, char *out, int64_t room,
                          int64_t *used)
{
    char *begin = out;
    for (; row < end; row++) {
        int64_t number = e->event[row] / PHASES, phase = e->event[row] % PHASES;
        if (phase != DECISION && phase != ARRIVAL)
            continue;
        if (out - begin + ROW + RUN * e->pieces[number] > room)
            break;
        int64_t target = targets[e->turn[number] * 2 + (phase == ARRIVAL)];
        Hosts hosts = of_switch(e, number);
        out = put_runs(put(put_significant(out, 6, e->event_at[row]), ","), hosts.first, hosts.last, hosts.runs);
        out = put_whole(put(out, target < 0 ? ",-" : ","), target < 0 ? -target : target);
        out = put(out, "\n");
    }
    *used = out - begin;
    return row;
}
