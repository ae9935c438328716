#ifndef BATDISPATCH_EXPORT_H
#define BATDISPATCH_EXPORT_H

/* Says whether this is glibc. */
#include <stdint.h>

/* Marks what Python calls; all else stays inside the library. */
#define EXPORT __attribute__((visibility("default")))

/* Marks a loop over words of bits, which is built a second time for processors with wide registers, where the compiler
 * and the loader can choose between the two. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
