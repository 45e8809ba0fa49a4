/* A team of processes (ranks) that make one run together: ddsc_team in ddsc.h.
 *
 * Every rank runs the same code on the same input. Where work is large it is divided: a rank does its
 * own part of a loop (team_for), and what it made goes to all (team_gather) or to the ranks that own the rows
 * it is about (team_mail). Parts are runs of whole pieces, so what a piece gives does not depend
 * on the number of ranks. Without a team all of this is one rank and costs nothing. */
#ifndef DDSC_BASE_TEAM_H
#define DDSC_BASE_TEAM_H

#include "base/base.h"

int team_rank(const ddsc_context *ctx);
int team_size(const ddsc_context *ctx);

/* Rows begin .. end. */
typedef struct team_part {
    int64_t begin, end;
} team_part;

/* The part of n rows in pieces of `grain` that a rank owns; empty where there are too few pieces. */
team_part team_part_of(const ddsc_context *ctx, int64_t n, int64_t grain, int rank);
team_part team_own(const ddsc_context *ctx, int64_t n, int64_t grain);
int team_owner(const ddsc_context *ctx, int64_t n, int64_t grain, int64_t row);

/* parallel_for over the rows of a part; progress counts for all ranks. */
ddsc_status team_rows(ddsc_context *ctx, team_part part, int64_t grain, parallel_fn fn, void *arg);
/* The same over the own part: the same pieces, this rank's alone. */
ddsc_status team_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg);
/* Rows of `bytes` each, every rank has filled its part: now all have all. */
ddsc_status team_gather(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes);
/* Parts of any size: parts[r] bytes of rank r. */
ddsc_status team_gather_parts(ddsc_context *ctx, void *data, const int64_t *parts);
/* Row i has entries offset[i] .. offset[i + 1] of `bytes` each. */
ddsc_status team_gather_entries(ddsc_context *ctx, void *entries, const int64_t *offset, int64_t n,
                                int64_t grain, int64_t bytes);
/* team_for and team_gather: fn fills rows of one array. */
ddsc_status team_fill(ddsc_context *ctx, void *rows, int64_t n, int64_t grain, int64_t bytes,
                      parallel_fn fn, void *arg);
/* What the first rank has, to all: numbers by BLAS or LAPACK may differ in last bits, or signs, between
 * processors of different kinds, and parts that are put together must be made with the same ones. */
ddsc_status team_first(ddsc_context *ctx, void *data, int64_t bytes);

/* Replaces value[k] by its sum over all ranks, added in the order of ranks. n is small. */
ddsc_status team_sum_i64(ddsc_context *ctx, int64_t *value, int64_t n);
ddsc_status team_sum_f64(ddsc_context *ctx, double *value, int64_t n);
/* The largest of each; what is no number counts as infinite. */
ddsc_status team_largest(ddsc_context *ctx, double *value, int64_t n);
/* The sum of lower ranks' values. */
ddsc_status team_before(ddsc_context *ctx, int64_t *value);
/* Counts and the largest gap of a divided loop. */
ddsc_status team_stats(ddsc_context *ctx, ddsc_pair_stats *stats);
/* receive: parts come in the order of ranks; both sizes in bytes. */
ddsc_status team_exchange(ddsc_context *ctx, const void *send, const int64_t *send_bytes,
                          void *receive, const int64_t *receive_bytes);
/* What each rank sends to this one, from what this one sends to each. */
ddsc_status team_sizes(ddsc_context *ctx, const int64_t *send_bytes, int64_t *receive_bytes);

/* What the first of a machine wrote into shared memory is there for its others. */
ddsc_status team_ready(ddsc_context *ctx);

/* Can the team find eigenpairs? */
bool team_has_eigen(const ddsc_context *ctx);
ddsc_status team_eigen(ddsc_context *ctx, ddsc_team_eigen *problem);

/* ---- what the first rank makes and all ranks use ---- */

/* fn on the first rank alone, as if there were no team; its status and message are then those of all. */
ddsc_status team_by_first(ddsc_context *ctx, ddsc_status (*fn)(void *arg), void *arg);

/* Arrays on their way into one block. */
typedef struct team_arrays {
    char *place;   /* NULL: they are counted only */
    int64_t bytes; /* of those so far */
    ddsc_context
        *owner; /* whose memory they are copied out of and freed; NULL: they are there already */
} team_arrays;

/* pointer: the address of one, which may be NULL. */
void team_array(team_arrays *a, void *pointer, int64_t bytes);
/* Calls team_array for each array of an object, always in the same order. A size may be read from an
 * array that came before. */
typedef void (*team_list)(team_arrays *a, void *object);
/* Moves the arrays of the first rank's object into one block for each machine, where the object of
 * every rank then has them: to be read only. All ranks have a copy of the object itself (team_first). *block
 * is set as soon as there is one, and given to team_unshare. */
ddsc_status team_move(ddsc_context *ctx, void *block, void *object, team_list list);
/* One table for all ranks of a machine: each fills its rows, and team_gather, or what calls it, makes all
 * rows be there for all. Freed by team_unshare. */
ddsc_status team_table_new(ddsc_context *ctx, void *table, int64_t bytes);
/* The shared block that data lies in, or NULL; all parts of it, for all. Of team_gather_parts. */
struct team_block;
const struct team_block *team_table_of(const ddsc_context *ctx, const void *data);
ddsc_status team_table_gather(ddsc_context *ctx, const struct team_block *b, void *data,
                              const int64_t *parts);
/* A block of team_move or team_table_new, or of mem_get. */
void team_unshare(ddsc_context *ctx, void *memory);

/* ---- mail: records for other ranks ---- */

typedef struct team_box {
    char *at;
    int32_t *to;
    int64_t n, bytes, n_to;
} team_box;

/* Records of one size, put down by many workers, delivered at once. Their order is that of ranks, then
 * any: whoever reads them must not care. */
typedef struct team_mail {
    ddsc_context *ctx;
    int64_t record;
    team_box *box; /* one per worker */
    char *in;      /* what came */
    int64_t n_in, in_bytes;
} team_mail;

ddsc_status team_mail_open(ddsc_context *ctx, team_mail *mail, int64_t record);
void team_mail_close(team_mail *mail);
ddsc_status team_mail_put(team_mail *mail, int worker, int to, const void *record);
ddsc_status team_mail_deliver(team_mail *mail);

#endif
