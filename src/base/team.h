/* A team of processes (ranks) that perform one run together; see ddsc_team in ddsc.h.
 *
 * Every rank executes the same code on the same input. Expensive work is divided: each rank
 * processes its part of a loop (team_for). The results are then sent to all ranks (team_gather) or
 * to the ranks that own the rows concerned (team_mail). Parts consist of whole pieces, so the
 * result of a piece does not depend on the number of ranks. Without a team there is one rank, and
 * these functions cost nothing. */
#ifndef DDSC_BASE_TEAM_H
#define DDSC_BASE_TEAM_H

#include "base/base.h"

int team_rank(const ddsc_context *ctx);
int team_size(const ddsc_context *ctx);

/* The rows begin .. end - 1. */
typedef struct team_part {
    int64_t begin, end;
} team_part;

/* team_part_of returns the part of n rows that a rank owns, in pieces of `grain`. The part is
 * empty if there are too few pieces. team_owner returns the rank that owns a row. */
team_part team_part_of(const ddsc_context *ctx, int64_t n, int64_t grain, int rank);
team_part team_own(const ddsc_context *ctx, int64_t n, int64_t grain);
int team_owner(const ddsc_context *ctx, int64_t n, int64_t grain, int64_t row);

/* Runs parallel_for over the rows of a part. The reported progress includes all ranks. */
ddsc_status team_rows(ddsc_context *ctx, team_part part, int64_t grain, parallel_fn fn, void *arg);
/* Runs parallel_for over the part of this rank, with the same pieces as without a team. */
ddsc_status team_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg);
/* Gathers rows of `bytes` each. Every rank has filled its part; afterwards all ranks have all
 * rows. */
ddsc_status team_gather(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes);
/* Gathers parts of any size: parts[r] bytes from rank r. */
ddsc_status team_gather_parts(ddsc_context *ctx, void *data, const int64_t *parts);
/* Gathers entries. Row i has the entries offset[i] .. offset[i + 1] - 1 of `bytes` each. */
ddsc_status team_gather_entries(ddsc_context *ctx, void *entries, const int64_t *offset, int64_t n,
                                int64_t grain, int64_t bytes);
/* Combines team_for and team_gather: fn fills rows of one array. */
ddsc_status team_fill(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes,
                      parallel_fn fn, void *arg);
/* Sends data of the first rank to all ranks. Results of BLAS or LAPACK may differ in their last
 * bits, or in signs, between CPU types. Parts that are combined must be computed from identical
 * inputs. */
ddsc_status team_first(ddsc_context *ctx, void *data, int64_t bytes);

/* Replaces value[k] with its sum over all ranks, added in the order of ranks. n should be small. */
ddsc_status team_sum_i64(ddsc_context *ctx, int64_t *value, int64_t n);
ddsc_status team_sum_f64(ddsc_context *ctx, double *value, int64_t n);
/* Computes the maximum of each value over all ranks. NaN is treated as infinite. */
ddsc_status team_largest(ddsc_context *ctx, double *value, int64_t n);
/* Combines the counts and the largest gap of a divided loop. */
ddsc_status team_stats(ddsc_context *ctx, ddsc_pair_stats *stats);
/* Exchanges parts between all ranks. The received parts are stored in the order of ranks; all
 * sizes are in bytes. */
ddsc_status team_exchange(ddsc_context *ctx, const void *send, const int64_t *send_bytes,
                          void *receive, const int64_t *receive_bytes);
/* Computes how many bytes each rank sends to this rank, given how many this rank sends to each. */
ddsc_status team_sizes(ddsc_context *ctx, const int64_t *send_bytes, int64_t *receive_bytes);

/* Waits until the data that the first rank of a machine wrote to shared memory is visible to the
 * others. */
ddsc_status team_ready(ddsc_context *ctx);

/* Returns true if the team can compute eigenpairs. */
bool team_has_eigen(const ddsc_context *ctx);
ddsc_status team_eigen(ddsc_context *ctx, ddsc_team_eigen *problem);

/* ---- data created by the first rank and used by all ---- */

/* Runs fn only on the first rank, as if there were no team. All ranks return its status and
 * message. */
ddsc_status team_by_first(ddsc_context *ctx, ddsc_status (*fn)(void *arg), void *arg);

/* Arrays that are being counted for, or moved into, one block. */
typedef struct team_arrays {
    char *place;         /* NULL while only the bytes are counted */
    int64_t bytes;       /* running total */
    ddsc_context *owner; /* owner of arrays to copy; NULL: already in the block */
} team_arrays;

/* Adds an array. `pointer` is the address of a pointer, which may be NULL. */
void team_array(team_arrays *a, void *pointer, int64_t bytes);
/* Calls team_array for each array of an object, always in the same order. A size may be read from
 * an earlier array. */
typedef void (*team_list)(team_arrays *a, void *object);
/* Moves the arrays of the first rank's object into one block per machine, which the objects of all
 * ranks then refer to. The arrays are read-only. All ranks must have a copy of the object itself
 * (team_first). *block is set as soon as the block exists, and must be passed to team_unshare. */
ddsc_status team_move(ddsc_context *ctx, void *block, void *object, team_list list);
/* Creates one table for all ranks of a machine. Each rank fills its rows, and team_gather (or a
 * function that calls it) makes all rows visible to all ranks. Freed with team_unshare. */
ddsc_status team_table_new(ddsc_context *ctx, void *table, int64_t bytes);
/* Used by team_gather_parts. The first function returns the shared block that contains `data`,
 * or NULL. The second gathers all parts of such a block on all ranks. */
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

/* Records of one size, queued by many workers and delivered together. They arrive in the order
 * of ranks, but in any order within a rank, so receivers must not depend on the order within a
 * rank. */
typedef struct team_mail {
    ddsc_context *ctx;
    int64_t record;
    team_box *box; /* one per worker */
    char *in;      /* received records */
    int64_t n_in, in_bytes;
} team_mail;

ddsc_status team_mail_open(ddsc_context *ctx, team_mail *mail, int64_t record);
void team_mail_close(team_mail *mail);
ddsc_status team_mail_put(team_mail *mail, int worker, int to, const void *record);
ddsc_status team_mail_deliver(team_mail *mail);

#endif
