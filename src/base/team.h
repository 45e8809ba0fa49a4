/* A team of processes (ranks) that perform one run together; see ddsc_team in ddsc.h.
 *
 * Every rank executes the same code on the same input. Expensive work is divided: each rank
 * processes its part of a loop (team_for). The results are then sent to all ranks (team_gather) or
 * to the ranks that own the corresponding rows (team_queue). A part consists of whole chunks, so the
 * result for a chunk does not depend on the number of ranks. Without a team there is one rank, and
 * these functions add no overhead. */
#ifndef DDSC_BASE_TEAM_H
#define DDSC_BASE_TEAM_H

#include "base/base.h"

int team_rank(const ddsc_context *ctx);
int team_size(const ddsc_context *ctx);

/* The rows begin .. end - 1. */
typedef struct team_part {
    int64_t begin, end;
} team_part;

/* team_part_of returns the part of n rows that a rank owns, in chunks of `grain` rows. The part is
 * empty if there are too few chunks. team_own returns the part of this rank. team_owner returns the
 * rank that owns a row. */
team_part team_part_of(const ddsc_context *ctx, int64_t n, int64_t grain, int rank);
team_part team_own(const ddsc_context *ctx, int64_t n, int64_t grain);
int team_owner(const ddsc_context *ctx, int64_t n, int64_t grain, int64_t row);

/* Runs parallel_for over the rows of a part. The reported progress includes all ranks. */
ddsc_status team_rows(ddsc_context *ctx, team_part part, int64_t grain, parallel_fn fn, void *arg);
/* Runs parallel_for over the part of this rank, with the same chunks as without a team. */
ddsc_status team_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg);
/* Gathers rows of `bytes` bytes. Before the call, each rank has filled its own rows; afterwards,
 * every rank has all rows. */
ddsc_status team_gather(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes);
/* Gathers parts of any size: parts[r] bytes from rank r. */
ddsc_status team_gather_parts(ddsc_context *ctx, void *data, const int64_t *parts);
/* Gathers entries. Row i has the entries offset[i] .. offset[i + 1] - 1, each of `bytes` bytes. */
ddsc_status team_gather_entries(ddsc_context *ctx, void *entries, const int64_t *offset, int64_t n,
                                int64_t grain, int64_t bytes);
/* Combines team_for and team_gather: fn fills rows of one array. */
ddsc_status team_fill(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes,
                      parallel_fn fn, void *arg);
/* Sends data from the first rank to all ranks. Results of BLAS or LAPACK may differ between CPU
 * types in their last bits or in signs, but parts that will be combined must be computed from
 * identical inputs. */
ddsc_status team_first(ddsc_context *ctx, void *data, int64_t bytes);

/* Replaces value[k] with its sum over all ranks, added in rank order. n should be small. */
ddsc_status team_sum_i64(ddsc_context *ctx, int64_t *value, int64_t n);
ddsc_status team_sum_f64(ddsc_context *ctx, double *value, int64_t n);
/* Computes the maximum of each value over all ranks. NaN is treated as infinite. */
ddsc_status team_largest(ddsc_context *ctx, double *value, int64_t n);
/* Sums the counts and maximizes the gap over all ranks. */
ddsc_status team_stats(ddsc_context *ctx, ddsc_pair_stats *stats);
/* Exchanges parts between all ranks. The received parts are stored in rank order. All sizes are in
 * bytes. */
ddsc_status team_exchange(ddsc_context *ctx, const void *send, const int64_t *send_bytes,
                          void *receive, const int64_t *receive_bytes);
/* Computes how many bytes this rank receives from each rank, given how many it sends to each
 * rank. */
ddsc_status team_sizes(ddsc_context *ctx, const int64_t *send_bytes, int64_t *receive_bytes);

/* Waits until data that the first rank of a machine wrote to shared memory is visible to the
 * machine's other ranks. */
ddsc_status team_ready(ddsc_context *ctx);

/* Returns true if the team can compute eigenpairs. */
bool team_has_eigen(const ddsc_context *ctx);
ddsc_status team_eigen(ddsc_context *ctx, ddsc_team_eigen *problem);

/* ---- data created by the first rank and used by all ---- */

/* Runs fn only on the first rank, as if there were no team. All ranks report the status and the
 * message of fn. */
ddsc_status team_by_first(ddsc_context *ctx, ddsc_status (*fn)(void *arg), void *arg);

/* The state of team_move, which first counts the bytes of the arrays and then moves the arrays into
 * one block. */
typedef struct team_arrays {
    char *place;         /* NULL while only the bytes are counted */
    int64_t bytes;       /* running total */
    ddsc_context *owner; /* owner of the arrays to copy; NULL if they are already in the block */
} team_arrays;

/* Adds an array. `pointer` is the address of a pointer, which may be NULL. */
void team_array(team_arrays *a, void *pointer, int64_t bytes);
/* Calls team_array for each array of an object, always in the same order. The size of an array may
 * depend on the content of an earlier one. */
typedef void (*team_list)(team_arrays *a, void *object);
/* Moves the arrays of the first rank's object into one block per machine, which the objects of all
 * ranks then refer to. After this, the arrays are read-only. All ranks must have a copy of the
 * object itself (team_first). *block is set as soon as the block exists, and must be passed to
 * team_unshare. */
ddsc_status team_move(ddsc_context *ctx, void *block, void *object, team_list list);
/* Creates one table for all ranks of a machine. Each rank fills its rows, and team_gather (or a
 * function that calls it) makes all rows visible to all ranks. Freed with team_unshare. */
ddsc_status team_table_new(ddsc_context *ctx, void *table, int64_t bytes);
/* Used by team_gather_parts. team_table_of returns the shared block that contains `data`, or NULL.
 * team_table_gather gathers all parts of a shared block on all ranks. */
struct team_block;
const struct team_block *team_table_of(const ddsc_context *ctx, const void *data);
ddsc_status team_table_gather(ddsc_context *ctx, const struct team_block *b, void *data,
                              const int64_t *parts);
/* Frees a block from team_move, team_table_new or mem_get. */
void team_unshare(ddsc_context *ctx, void *memory);

/* ---- messages: records for other ranks ---- */

typedef struct team_box {
    char *at;
    int32_t *to;
    int64_t n, bytes, n_to;
} team_box;

/* Records of equal size that the workers queue and team_queue_deliver sends. Records are received in
 * the order of the sending ranks. The order of records from the same rank is undefined, so results
 * must not depend on it. */
typedef struct team_queue {
    ddsc_context *ctx;
    int64_t record;
    team_box *box; /* one per worker */
    char *in;      /* received records */
    int64_t n_in, in_bytes;
} team_queue;

ddsc_status team_queue_open(ddsc_context *ctx, team_queue *queue, int64_t record);
void team_queue_close(team_queue *queue);
ddsc_status team_queue_put(team_queue *queue, int worker, int to, const void *record);
ddsc_status team_queue_deliver(team_queue *queue);

#endif
