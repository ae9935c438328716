/* Sets of numbers as bits of 64-bit words: what plans keep for each of their steps. Number i is bit i % 64 of word
 * i / 64. Sets may have more words than are in use: functions are told how many they are to look at. */
#ifndef BATDISPATCH_MASKS_H
#define BATDISPATCH_MASKS_H

#include <stdbool.h>
#include <stdint.h>

enum { WORD = 64 };

/* Return how many bits of a word are set. Baseline x86-64 has no instruction for it, and the compiler's own function
 * takes longer than this. */
static inline int64_t bits(uint64_t word)
{
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int64_t)((word * 0x0101010101010101u) >> 56);
}

/* Return the place of the lowest bit of a word that is not 0. */
static inline int64_t lowest_place(uint64_t word)
{
    return __builtin_ctzll(word);
}

static inline bool has(const uint64_t *mask, int64_t number)
{
    return (mask[number / WORD] >> (number % WORD)) & 1;
}

static inline void enter(uint64_t *mask, int64_t number)
{
    mask[number / WORD] |= (uint64_t)1 << (number % WORD);
}

static inline void clear(uint64_t *mask, int64_t number)
{
    mask[number / WORD] &= ~((uint64_t)1 << (number % WORD));
}

static inline void empty(uint64_t *mask, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        mask[index] = 0;
}

/* Make a set the same as another one. */
static inline void copy(const uint64_t *source, uint64_t *target, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        target[index] = source[index];
}

/* Leave in a set only the numbers that another one has as well. */
static inline void meet(uint64_t *target, const uint64_t *other, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        target[index] &= other[index];
}

/* As `meet`, and return whether any number is left. */
static inline bool meet_any(uint64_t *target, const uint64_t *other, int64_t words)
{
    uint64_t any = 0;
    for (int64_t index = 0; index < words; index++)
        any |= target[index] &= other[index];
    return any != 0;
}

/* Add the numbers of another set. */
static inline void join(uint64_t *target, const uint64_t *other, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        target[index] |= other[index];
}

/* Take out the numbers of another set. */
static inline void take_out(uint64_t *target, const uint64_t *other, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        target[index] &= ~other[index];
}

static inline bool same_sets(const uint64_t *one, const uint64_t *other, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        if (one[index] != other[index])
            return false;
    return true;
}

/* Return whether a set has all numbers of another one, `inner`. */
static inline bool within(const uint64_t *inner, const uint64_t *outer, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        if (inner[index] & ~outer[index])
            return false;
    return true;
}

/* Return whether two sets have a number in common. */
static inline bool touch(const uint64_t *one, const uint64_t *other, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        if (one[index] & other[index])
            return true;
    return false;
}

/* Return the first number from `at` on that is in a set, or, with all bits of `flip`, that is not; words * WORD for none. */
static inline int64_t next_in(const uint64_t *mask, int64_t words, int64_t at, uint64_t flip)
{
    int64_t index = at / WORD;
    uint64_t word = index < words ? (mask[index] ^ flip) & (~(uint64_t)0 << (at % WORD)) : 0;
    while (!word && ++index < words)
        word = mask[index] ^ flip;
    return word ? index * WORD + lowest_place(word) : words * WORD;
}

/* Leave in a set only so many of its lowest numbers; it has as many. */
static inline void leave_lowest_bits(uint64_t *mask, int64_t words, int64_t count)
{
    for (int64_t index = 0; index < words; index++) {
        int64_t here = bits(mask[index]);
        uint64_t upper = mask[index];
        if (here > count)
            for (; count > 0; count--, here--)
                upper &= upper - 1;
        else
            upper = 0, count -= here;
        mask[index] &= ~upper;
    }
}

#endif
