/* Checks of the outputs of public calls. Before a call, `unset` fills an array or struct with a
 * pattern, and pointers are set to calls_unset. After the call, the functions below check that an
 * output was not changed if the call failed, and otherwise add it to the answer. Those that take
 * objects destroy them. */
#ifndef DDSC_TEST_PUBLIC_OUTPUTS_H
#define DDSC_TEST_PUBLIC_OUTPUTS_H

#include "public_calls.h"
#include "public_data.h"

void unset(void *out, size_t n);
void keeps(ddsc_status status, const void *out, size_t n);
/* The same for a struct of the caller, whose size (its first field) is set. */
void unset_sized(void *out, size_t n);
void keeps_sized(ddsc_status status, const void *out, size_t n);
/* For a struct that also contains the caller's pointers: compares it with a copy made before. */
void keeps_copy(ddsc_status status, const void *out, const void *before, size_t n);
/* For an array that a call may fill even if it fails, as its comment in the header says. */
void fills(ddsc_status status, const void *out, size_t n);
/* Omits the times. */
void keeps_stats(ddsc_status status, ddsc_pair_stats *stats);

ddsc_status gives_measures(ddsc_status status, ddsc_measures **place);
ddsc_status gives_rows(ddsc_context *ctx, ddsc_status s, void *out, size_t size, int64_t n,
                       int64_t m);
ddsc_status gives_graph(ddsc_status status, ddsc_graph **place);
ddsc_status gives_clustering(ddsc_status status, ddsc_clustering **place);
ddsc_status gives_model(ddsc_status status, ddsc_model **place);
/* Checks that the file is complete or absent, and that no temporary file remains. */
ddsc_status gives_file(ddsc_status status, const char *path);

#endif
