/* The inside of a context; only base/ and the allocator test include this. */
#ifndef DDSC_BASE_CONTEXT_H
#define DDSC_BASE_CONTEXT_H

#include <stdatomic.h>

#include "base/base.h"

enum { CTX_MESSAGE_SIZE = 1024 };

struct ddsc_context {
    ddsc_context_settings set;
    int threads;
    atomic_int message_state; /* 0 empty, 1 being written, 2 there */
    char message[CTX_MESSAGE_SIZE];
    atomic_int cancelled;
    _Atomic int64_t held, peak;
    const char *stage;
    _Atomic int64_t done;
    int64_t total;
    double last_report;
};

#endif
