#ifndef BATDISPATCH_EXPORT_H
#define BATDISPATCH_EXPORT_H

/* Marks what Python calls; all else stays inside the library. */
#define EXPORT __attribute__((visibility("default")))

#endif
