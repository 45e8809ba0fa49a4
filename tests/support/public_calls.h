/* A table of all public calls that can fail, on small data. unit/test_public_calls.c tests the
 * properties that all of them share. */
#ifndef DDSC_TEST_PUBLIC_CALLS_H
#define DDSC_TEST_PUBLIC_CALLS_H

#include "support.h"

/* One way to make a public call. `run` makes it, checks that after an error no output was made or
 * touched and no file is left, and after a success adds the outputs to `answer` and frees them. */
typedef struct call_entry {
    const char *function, *way;
    ddsc_status (*run)(ddsc_context *ctx, int option);
    int option;
} call_entry;

/* The calls of one file. */
typedef struct call_table {
    const call_entry *entry;
    size_t n;
} call_table;

extern const call_table measures_calls, pairs_calls, clusters_calls, words_calls, assess_calls,
    reports_calls, context_calls;

/* Entries of ddsc_CALL and ddsc_measures_CALL. */
#define E(call, way, option)             \
    {                                    \
        "ddsc_" #call, way, call, option \
    }
#define M(call, way, option)                      \
    {                                             \
        "ddsc_measures_" #call, way, call, option \
    }
#define CALL_TABLE(list)                      \
    {                                         \
        (list), sizeof(list) / sizeof *(list) \
    }

/* Returns entry k of all tables, or NULL. */
const call_entry *calls_get(size_t k);

/* The data of the calls: for a group of tests. */
int calls_set_up(void **state);
int calls_tear_down(void **state);

/* Makes the call. *answer becomes a hash of the outputs, or 0 after an error. The data are those of
 * a run without errors, for any number of threads and any earlier failures. */
ddsc_status calls_run(ddsc_context *ctx, const call_entry *entry, uint64_t *answer);

/* For entries in other files: adds bytes to the answer. Returns true if there is a result to check
 * (`out` was calls_unset before the call). */
void calls_add_answer(const void *bytes, int64_t n);
bool calls_gives(ddsc_status status, const void *out);
extern void *const calls_unset;

/* For this call, the context is that of the first of two ranks. The other rank never fails. */
void calls_set_team(ddsc_context *ctx, bool on);
/* A ddsc_measures_fn: reads the file whose name `user` points at. */
ddsc_status calls_read(void *user, ddsc_context *ctx, ddsc_measures **out);

/* In public_reports.c. The report is created by calls_set_up. */
void reports_set_up(void);
void reports_tear_down(void);

#endif
