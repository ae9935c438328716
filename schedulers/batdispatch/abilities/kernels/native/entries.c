#include "entries.h"

int compare_entries(const void *one, const void *other)
{
    const Entry *a = one, *b = other;
    if (a->tier != b->tier)
        return a->tier < b->tier ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->job < b->job ? -1 : 1;
}
