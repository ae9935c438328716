/* Reads the jobs of a workload, a list in JSON, into columns, where each job says only what most do. What is unusual,
 * be it wrong, is left to Python, which reads the whole list again and says what is wrong with it:
 * batdispatch.inputs.workloads.reader. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "texts.h"

/* What a field of a job is. `OTHER` is read by somebody else; `REFUSED` makes the job unusual. */
enum { ID, SUBTIME, RES, PROFILE, WALLTIME, USER, OTHER, REFUSED };
enum { NEEDED = 1 << ID | 1 << SUBTIME | 1 << RES | 1 << PROFILE };
/* Most fields of a job, longest name of a job in bytes, and most digits of a whole number. */
enum { MOST_FIELDS = 64, LONGEST_NAME = 256, MOST_DIGITS = 18 };

static const char *const NAMES[] = {"id", "subtime", "res", "profile", "walltime", "user"};

/* batdispatch.inputs.workloads.text_columns makes it. */
typedef struct {
    const uint8_t *text;
    int64_t bytes;
    /* Names of the profiles, and of the fields that make a job unusual. */
    const uint8_t *profiles;
    const int64_t *profiles_bounds;
    int64_t profile_count;
    const uint8_t *unusual;
    const int64_t *unusual_bounds;
    int64_t unusual_count;
    double latest;
    int64_t most_units;
    /* Jobs that there is room for; by job, in the order of the text: where its id begins, and the length; ... */
    int64_t room;
    int64_t *id_at;
    int64_t *id_length;
    double *submission;
    int64_t *units;
    double *walltime;
    int32_t *profile;
    int32_t *user;
    /* By user, in the order in which they come: where the name stands. */
    int64_t *user_at;
    int64_t *user_length;
    /* Tables of names, of 2^n places each that are 0: number + 1 of who is there. */
    int32_t *profile_table;
    int64_t profile_places;
    int32_t *user_table;
    int64_t user_places;
    /* Found. */
    int64_t jobs;
    int64_t users;
} WorkloadText;

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} Cursor;

typedef struct {
    const uint8_t *at;
    int64_t length;
} Name;

typedef struct {
    double value;
    bool is_whole;
    /* As it is written; the whole number if it is one. */
    Name text;
    int64_t whole;
} Number;

typedef struct {
    Name name[MOST_FIELDS];
    int64_t role[MOST_FIELDS];
    int64_t count;
} Fields;

static bool same(Name one, const void *other, int64_t length)
{
    return one.length == length && memcmp(one.at, other, (size_t)length) == 0;
}

static uint64_t hash_of(Name name)
{
    uint64_t hash = 14695981039346656037u;
    for (int64_t index = 0; index < name.length; index++)
        hash = (hash ^ name.at[index]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Return what comes behind white space, 0 at the end. */
static uint8_t next_mark(Cursor *cursor)
{
    for (; cursor->at < cursor->end; cursor->at++)
        if (*cursor->at != ' ' && *cursor->at != '\n' && *cursor->at != '\t' && *cursor->at != '\r')
            return *cursor->at;
    return 0;
}

static bool take_mark(Cursor *cursor, uint8_t mark)
{
    if (next_mark(cursor) != mark)
        return false;
    cursor->at++;
    return true;
}

/* Take a text of ASCII without escapes. */
static bool take_text(Cursor *cursor, Name *text)
{
    if (!take_mark(cursor, '"'))
        return false;
    text->at = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != '"') {
        if (*cursor->at < ' ' || *cursor->at > '~' || *cursor->at == '\\')
            return false;
        cursor->at++;
    }
    text->length = cursor->at - text->at;
    return take_mark(cursor, '"');
}

/* Take one digit or more; the number so far is kept as long as it fits. */
static int64_t take_digits(Cursor *cursor, uint64_t *mantissa)
{
    const uint8_t *begin = cursor->at;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
        *mantissa = *mantissa < UINT64_MAX / 16 ? *mantissa * 10 + (uint64_t)(*cursor->at - '0') : UINT64_MAX;
    return cursor->at - begin;
}

static bool is_next(const Cursor *cursor, const char *marks)
{
    return cursor->at < cursor->end && *cursor->at && strchr(marks, *cursor->at) != NULL;
}

/* Return the double closest to a number that stands in the text, or NaN if C's own function does not read all of it. */
static double read_slowly(Name text)
{
    char *behind, copy[64];
    if (text.length >= (int64_t)sizeof copy)
        return NAN;
    memcpy(copy, text.at, (size_t)text.length);
    copy[text.length] = 0;
    double value = strtod(copy, &behind);
    return behind == copy + text.length ? value : NAN;
}

static bool take_number(Cursor *cursor, Number *number)
{
    /* Powers of ten that are doubles: a whole number up to 2^53 over or times one of them is rounded once. */
    static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t mantissa = 0, ignored = 0;
    int64_t behind = 0;
    next_mark(cursor);
    number->text.at = cursor->at;
    bool negative = is_next(cursor, "-");
    cursor->at += negative;
    bool zero = is_next(cursor, "0");
    int64_t before = take_digits(cursor, &mantissa);
    if (before == 0 || (zero && before > 1))
        return false;
    number->is_whole = !is_next(cursor, ".eE");
    if (is_next(cursor, ".")) {
        cursor->at++;
        behind = take_digits(cursor, &mantissa);
        if (behind == 0)
            return false;
    }
    bool has_exponent = is_next(cursor, "eE");
    if (has_exponent) {
        cursor->at++;
        cursor->at += is_next(cursor, "+-");
        if (take_digits(cursor, &ignored) == 0)
            return false;
    }
    number->text.length = cursor->at - number->text.at;
    number->whole = number->is_whole && before <= MOST_DIGITS ? (int64_t)mantissa : -1;
    if (has_exponent || mantissa > UINT64_C(1) << 53 || behind > 22)
        number->value = read_slowly(number->text);
    else
        number->value = (double)mantissa / POWERS[behind] * (negative ? -1.0 : 1.0);
    if (negative)
        number->whole = -1;
    return isfinite(number->value);
}

/* Take what nobody here reads: a text, a number, true, false or null. */
static bool take_other(Cursor *cursor)
{
    Name text;
    Number number;
    uint8_t mark = next_mark(cursor);
    if (mark == '"')
        return take_text(cursor, &text);
    if (mark != 't' && mark != 'f' && mark != 'n')
        return take_number(cursor, &number);
    const char *word = mark == 't' ? "true" : mark == 'f' ? "false" : "null";
    size_t length = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static int64_t role_of(const WorkloadText *workload, Name name)
{
    for (int64_t role = ID; role < OTHER; role++)
        if (same(name, NAMES[role], (int64_t)strlen(NAMES[role])))
            return role;
    Texts unusual = {workload->unusual, workload->unusual_bounds};
    for (int64_t index = 0; index < workload->unusual_count; index++)
        if (same(name, unusual.data + unusual.bounds[index], length_of(unusual, index)))
            return REFUSED;
    return OTHER;
}

/* Return the role of the next field of a job, whose fields so far are `now`; REFUSED for one that is there twice. The
 * fields of the job before are looked at first, since most jobs have the same ones in the same order. */
static int64_t next_role(const WorkloadText *workload, const Fields *before, Fields *now, Name name, bool *alike)
{
    int64_t index = now->count++;
    now->name[index] = name;
    *alike = *alike && index < before->count && same(name, before->name[index].at, before->name[index].length);
    now->role[index] = *alike ? before->role[index] : role_of(workload, name);
    for (int64_t other = 0; other < index && !*alike; other++)
        if (same(name, now->name[other].at, now->name[other].length))
            return REFUSED;
    return now->role[index];
}

/* Return the place of a name in the table of the users or of the profiles; 0 stands there if the name is new. */
static int32_t *place_of(const WorkloadText *workload, int32_t *table, int64_t places, Name name, bool is_user)
{
    Texts profiles = {workload->profiles, workload->profiles_bounds};
    uint64_t place = hash_of(name) & (uint64_t)(places - 1);
    for (; table[place]; place = (place + 1) & (uint64_t)(places - 1)) {
        int64_t number = table[place] - 1;
        if (is_user ? same(name, workload->text + workload->user_at[number], workload->user_length[number])
                    : same(name, profiles.data + profiles.bounds[number], length_of(profiles, number)))
            break;
    }
    return table + place;
}

static bool set_user(WorkloadText *workload, int64_t job, Name name)
{
    int32_t *place = place_of(workload, workload->user_table, workload->user_places, name, true);
    if (*place == 0) {
        if (2 * (workload->users + 1) > workload->user_places)
            return false;
        workload->user_at[workload->users] = name.at - workload->text;
        workload->user_length[workload->users] = name.length;
        *place = (int32_t)++workload->users;
    }
    workload->user[job] = *place - 1;
    return true;
}

static bool is_name(Name name)
{
    if (name.length < 1 || name.length > LONGEST_NAME)
        return false;
    /* What a text of ASCII without quotes may still hold, and no name may. */
    return !memchr(name.at, ',', (size_t)name.length) && !memchr(name.at, '!', (size_t)name.length);
}

static bool take_id(WorkloadText *workload, Cursor *cursor, int64_t job)
{
    Name name;
    if (!take_text(cursor, &name) || !is_name(name))
        return false;
    workload->id_at[job] = name.at - workload->text;
    workload->id_length[job] = name.length;
    return true;
}

static bool take_profile(WorkloadText *workload, Cursor *cursor, int64_t job)
{
    Name name;
    if (!take_text(cursor, &name))
        return false;
    workload->profile[job] = *place_of(workload, workload->profile_table, workload->profile_places, name, false) - 1;
    return workload->profile[job] >= 0;
}

static bool take_user(WorkloadText *workload, Cursor *cursor, int64_t job)
{
    Name name;
    Number number;
    if (next_mark(cursor) == '"')
        return take_text(cursor, &name) && set_user(workload, job, name);
    return take_number(cursor, &number) && number.whole >= 0 && set_user(workload, job, number.text);
}

static bool take_value(WorkloadText *workload, Cursor *cursor, int64_t job, int64_t role)
{
    Number number;
    switch (role) {
    case ID:
        return take_id(workload, cursor, job);
    case PROFILE:
        return take_profile(workload, cursor, job);
    case USER:
        return take_user(workload, cursor, job);
    case OTHER:
        return take_other(cursor);
    }
    if (role == REFUSED || !take_number(cursor, &number))
        return false;
    switch (role) {
    case SUBTIME:
        workload->submission[job] = number.value;
        return !signbit(number.value) && number.value <= workload->latest;
    case RES:
        workload->units[job] = number.whole;
        return number.whole >= 1 && number.whole <= workload->most_units;
    default:
        workload->walltime[job] = number.value == -1.0 ? INFINITY : number.value;
        return workload->walltime[job] > 0.0;
    }
}

static bool take_job(WorkloadText *workload, Cursor *cursor, int64_t job, const Fields *before, Fields *now)
{
    int64_t there = 0;
    bool alike = true;
    now->count = 0;
    workload->walltime[job] = INFINITY;
    workload->user[job] = -1;
    if (!take_mark(cursor, '{'))
        return false;
    do {
        Name name;
        if (now->count == MOST_FIELDS || !take_text(cursor, &name) || !take_mark(cursor, ':'))
            return false;
        int64_t role = next_role(workload, before, now, name, &alike);
        there |= INT64_C(1) << role;
        if (!take_value(workload, cursor, job, role))
            return false;
    } while (take_mark(cursor, ','));
    if (workload->user[job] < 0 && !set_user(workload, job, (Name){workload->text, 0}))
        return false;
    return (there & NEEDED) == NEEDED && take_mark(cursor, '}');
}

static void enter_profiles(WorkloadText *workload)
{
    Texts profiles = {workload->profiles, workload->profiles_bounds};
    for (int64_t index = 0; index < workload->profile_count; index++) {
        Name name = {profiles.data + profiles.bounds[index], length_of(profiles, index)};
        *place_of(workload, workload->profile_table, workload->profile_places, name, false) = (int32_t)index + 1;
    }
}

/* Return whether all jobs are usual, and have been read. Whether ids repeat is not looked at. */
EXPORT int64_t read_jobs(WorkloadText *workload)
{
    Fields fields[2] = {{.count = 0}, {.count = 0}};
    Cursor cursor = {workload->text, workload->text + workload->bytes};
    enter_profiles(workload);
    if (!take_mark(&cursor, '['))
        return false;
    do {
        int64_t job = workload->jobs;
        if (job == workload->room || !take_job(workload, &cursor, job, fields + (job + 1) % 2, fields + job % 2))
            return false;
        workload->jobs++;
    } while (take_mark(&cursor, ','));
    return take_mark(&cursor, ']') && next_mark(&cursor) == 0 && cursor.at == cursor.end;
}

/* Copy ids that stand in a text to `packed`, with `bounds`; return whether they all differ. `table` has `places` places,
 * 2^n and more than there are ids, that are 0. */
EXPORT int64_t pack_ids(const uint8_t *text, const int64_t *at, const int64_t *length, int64_t count, uint8_t *packed,
                        int64_t *bounds, int32_t *table, int64_t places)
{
    bounds[0] = 0;
    for (int64_t index = 0; index < count; index++) {
        Name name = {packed + bounds[index], length[index]};
        memcpy(packed + bounds[index], text + at[index], (size_t)length[index]);
        bounds[index + 1] = bounds[index] + length[index];
        uint64_t place = hash_of(name) & (uint64_t)(places - 1);
        for (; table[place]; place = (place + 1) & (uint64_t)(places - 1)) {
            int64_t other = table[place] - 1;
            if (same(name, packed + bounds[other], bounds[other + 1] - bounds[other]))
                return false;
        }
        table[place] = (int32_t)index + 1;
    }
    return true;
}
