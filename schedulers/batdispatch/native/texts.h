#ifndef BATDISPATCH_TEXTS_H
#define BATDISPATCH_TEXTS_H

#include <stdint.h>
#include <string.h>

/* Texts one behind the other: text i is the bytes from bounds[i] to bounds[i + 1]. */
typedef struct {
    const uint8_t *data;
    const int64_t *bounds;
} Texts;

static inline int64_t length_of(Texts texts, int64_t index)
{
    return texts.bounds[index + 1] - texts.bounds[index];
}

/* Write a text, and return what is behind it, as all that write do. */
static inline char *put_text(char *out, Texts texts, int64_t index)
{
    int64_t length = length_of(texts, index);
    memcpy(out, texts.data + texts.bounds[index], (size_t)length);
    return out + length;
}

static inline char *put(char *out, const char *text)
{
    size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

#endif
