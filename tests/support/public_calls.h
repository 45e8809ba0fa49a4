/* Every public call that can fail, on small data, as a table: what holds for all of them is tested
 * in one place (unit/test_public_calls.c). */
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

extern const call_entry calls[];
extern const size_t n_calls;

/* The data of the calls: for a group of tests. */
int calls_set_up(void **state);
int calls_tear_down(void **state);

/* Make the call. *answer becomes a hash of the outputs, 0 after an error; the data are those of a
 * run without errors, whatever the threads and whatever failed before. */
ddsc_status calls_run(ddsc_context *ctx, const call_entry *entry, uint64_t *answer);

/* For entries in other files: bytes of the answer; true when there is a result to look at (`out` was
 * calls_unset before the call). */
void calls_add_answer(const void *bytes, int64_t n);
bool calls_gives(ddsc_status status, const void *out);
extern void *const calls_unset;

/* public_context.c */
ddsc_status context_create(ddsc_context *ctx, int option);
ddsc_status context_set_resume(ddsc_context *ctx, int option);
ddsc_status context_set_device(ddsc_context *ctx, int option);
ddsc_status context_set_team(ddsc_context *ctx, int option);

/* For this call the context is that of the first of two ranks, the other of which never fails. */
void calls_set_team(ddsc_context *ctx, bool on);
/* A ddsc_measures_fn: reads the file whose name `user` points at. */
ddsc_status calls_read(void *user, ddsc_context *ctx, ddsc_measures **out);

/* public_reports.c; the report is made by calls_set_up. */
void reports_set_up(void);
void reports_tear_down(void);
ddsc_status compare_run(ddsc_context *ctx, int option);
ddsc_status cluster_settings_resolve(ddsc_context *ctx, int option);
ddsc_status merges_run(ddsc_context *ctx, int option);
ddsc_status project_run(ddsc_context *ctx, int option);
ddsc_status order_run(ddsc_context *ctx, int option);
ddsc_status verdict_run(ddsc_context *ctx, int option);
ddsc_status outliers_run(ddsc_context *ctx, int option);
ddsc_status permanova_run(ddsc_context *ctx, int option);
ddsc_status states_run(ddsc_context *ctx, int option);
ddsc_status states_flow_run(ddsc_context *ctx, int option);
ddsc_status effects_run(ddsc_context *ctx, int option);
ddsc_status stability_run(ddsc_context *ctx, int option);
ddsc_status barycenter_run(ddsc_context *ctx, int option);
ddsc_status units_run(ddsc_context *ctx, int option);
ddsc_status identity_run(ddsc_context *ctx, int option);
ddsc_status update_run(ddsc_context *ctx, int metric);
ddsc_status cluster_like(ddsc_context *ctx, int metric);
ddsc_status sampling_constants_run(ddsc_context *ctx, int option);
ddsc_status report_create(ddsc_context *ctx, int option);
ddsc_status report_read(ddsc_context *ctx, int option);
ddsc_status report_write(ddsc_context *ctx, int form);
ddsc_status report_save(ddsc_context *ctx, int option);
ddsc_status report_check(ddsc_context *ctx, int option);
ddsc_status file_check(ddsc_context *ctx, int option);
ddsc_status report_draw(ddsc_context *ctx, int option);
ddsc_status comparison_write(ddsc_context *ctx, int picture);
ddsc_status diff_create(ddsc_context *ctx, int option);
ddsc_status over_run(ddsc_context *ctx, int option);
ddsc_status report_add_over(ddsc_context *ctx, int option);
ddsc_status diff_write(ddsc_context *ctx, int form);

#endif
