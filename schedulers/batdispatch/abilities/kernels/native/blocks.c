/* Hosts in blocks, so that what a plan costs follows the number of jobs that cut the machine into blocks and not the
 * number of hosts. CEA-Curie's 93,312 hosts are some 2,000 blocks where 700 jobs wait. A block is cut in two where a job
 * takes a part of it; from time to time, batdispatch.abilities.kernels.plan joins those that belong together. */
#include "export.h"
#include "host_sets.h"
#include "plan.h"

/* As `count_missing`, where each host is a block. */
WIDE static int64_t count_missing_bits(const uint64_t *mask, const uint64_t *other, int64_t words)
{
    int64_t found = 0;
    for (int64_t index = 0; index < words; index++)
        found += bits(mask[index] & ~other[index]);
    return found;
}

int64_t count_missing(const Plan *plan, const uint64_t *mask, const uint64_t *other, int64_t words, int64_t most)
{
    if (plan->single)
        return count_missing_bits(mask, other, words);
    int64_t found = 0;
    for (int64_t index = 0; index < words && found <= most; index++)
        for (uint64_t word = mask[index] & ~other[index]; word; word &= word - 1)
            found += plan->block_size[index * WORD + lowest_place(word)];
    return found;
}

/* Leave in a set only so many of its lowest hosts, or a few more; it has as many. Return the place in the order of the
 * last block left; `stay` becomes how many of its hosts stay. */
static int64_t leave_lowest_blocks(const Plan *plan, uint64_t *mask, int64_t count, int64_t *stay)
{
    int64_t last = -1;
    for (int64_t place = 0; place < plan->blocks; place++) {
        int32_t block = plan->order[place], size = plan->block_size[block];
        if (!has(mask, block))
            continue;
        if (count == 0) {
            clear(mask, block);
            continue;
        }
        last = place;
        *stay = size < count ? size : count;
        count -= *stay;
    }
    return last;
}

/* Cut a block in two, so that so many of its hosts stay in it, and return the number of the new one. */
static int64_t cut_block(Plan *plan, int64_t place, int64_t stay)
{
    int32_t block = plan->order[place], new = (int32_t)plan->blocks++;
    plan->block_first[new] = plan->block_first[block] + (int32_t)stay;
    plan->block_size[new] = plan->block_size[block] - (int32_t)stay;
    plan->block_size[block] = (int32_t)stay;
    for (int64_t later = new; later > place + 1; later--)
        plan->order[later] = plan->order[later - 1];
    plan->order[place + 1] = new;
    return new;
}

/* Let sets that have a block have the new one as well that was cut from it. */
static void follow(const Plan *plan, uint64_t *sets, int64_t count, int64_t block, int64_t new)
{
    for (int64_t index = 0; index < count; index++)
        if (has(sets + index * plan->words, block))
            enter(sets + index * plan->words, new);
}

void leave_lowest(Plan *plan, int64_t units)
{
    int64_t stay = 0;
    if (plan->single) {
        leave_lowest_bits(plan->common, plan->words, units);
        return;
    }
    int64_t place = leave_lowest_blocks(plan, plan->common, units, &stay), block = plan->order[place];
    if (stay == plan->block_size[block])
        return;
    int64_t new = cut_block(plan, place, stay);
    follow(plan, plan->rows, plan->most_steps, block, new);
    follow(plan, plan->kept, plan->most_kept, block, new);
    follow(plan, plan->now_free, 1, block, new);
}

int64_t write_runs(const Plan *plan, const uint64_t *mask, int32_t *first, int32_t *last, int64_t at)
{
    int64_t begin = at;
    for (int64_t place = 0; place < plan->blocks; place++) {
        int32_t block = plan->order[place], host = plan->block_first[block];
        if (!has(mask, block))
            continue;
        if (at > begin && last[at - 1] == host - 1)
            at--;
        else
            first[at] = host;
        last[at++] = host + plan->block_size[block] - 1;
    }
    return at;
}

void enter_hosts(const Plan *plan, const uint64_t *mask, uint64_t *hosts)
{
    for (int64_t index = 0; index < used_words(plan); index++)
        for (uint64_t word = mask[index]; word; word &= word - 1) {
            int64_t block = index * WORD + lowest_place(word), first = plan->block_first[block];
            enter_run(hosts, first, first + plan->block_size[block] - 1);
        }
}
