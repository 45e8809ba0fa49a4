/* base: what every room stands on. Context, error text, the one allocator, checked sizes,
 * counter-based random numbers and the one parallel loop. Depends on libc, threads and (in
 * parallel.c alone) OpenMP. */
#ifndef DDSC_BASE_BASE_H
#define DDSC_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"
#include "ddsc/ddsc.h"

#define BASE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BASE_MAX(a, b) ((a) > (b) ? (a) : (b))
/* The least multiple of `unit` that is at least n. */
#define BASE_ROUND_UP(n, unit) (((n) + (unit)-1) / (unit) * (unit))

/* ---- errors: the first message of a call wins ---- */

/* Public entry points begin with CHECK of one of these. A missing context is refused, the message of
 * the call before cleared; _new: the object to be made is NULL until it is whole. */
ddsc_status ctx_enter(ddsc_context *ctx);
ddsc_status ctx_enter_new(ddsc_context *ctx, void *out);
/* For a public call that makes others: while it holds the context, theirs clear nothing. */
void ctx_hold(ddsc_context *ctx, bool hold);
/* Record "text" unless one is already there; returns status, so `return ctx_fail(...)` reads well.
 */
ddsc_status ctx_fail(ddsc_context *ctx, ddsc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sticky within a call; safe from any thread. On the calling thread the user is asked, now and
 * then: work of more than some milliseconds should look here. */
bool ctx_cancelled(ddsc_context *ctx);
/* Worth a word, but no error: told to the caller at once. Calling thread only. */
void ctx_warn(ddsc_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A figure about the call at work, for ddsc_context_get_details; a name already there gets the new
 * value. `name` stays where it is (a literal). Calling thread only. */
void ctx_detail(ddsc_context *ctx, const char *name, double value);
/* "NAME is NULL" unless there is a pointer. */
ddsc_status ctx_need(ddsc_context *ctx, const void *pointer, const char *name);
/* "FIELD = VALUE: must be RULE" unless the field of a caller's settings is good. */
ddsc_status ctx_check(ddsc_context *ctx, bool good, const char *field, double value,
                      const char *rule);
/* In the message of the call at work: another name for what it speaks of. */
void ctx_reword(ddsc_context *ctx, const char *from, const char *to);
/* Refuses bits of `flags` that are not among `known`; `who` names the call. */
ddsc_status ctx_check_flags(ddsc_context *ctx, const char *who, unsigned flags, unsigned known);
uint64_t ctx_seed(const ddsc_context *ctx);
/* The context's settings for files: seconds, or negative for no child process; the encoding of text. */
double ctx_read_timeout(const ddsc_context *ctx);
ddsc_encoding ctx_encoding(const ddsc_context *ctx);
/* In a forked child: no callback of the user is called from now on. */
void ctx_detach(ddsc_context *ctx);
/* The message so far, or "", which is forgotten: the next error writes over it. */
const char *ctx_take_message(ddsc_context *ctx);
/* What the call at work decided: which path `stage` took and why. Calling thread only; a stage that
 * takes the same path again adds nothing. `stage` and `path` are literals. */
void ctx_note(ddsc_context *ctx, const char *stage, const char *path, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* The paths that stages took in all calls before the one at work, each once, since the context was made. */
typedef struct ctx_step {
    char stage[32], path[64], why[160];
} ctx_step;
int64_t ctx_steps(const ddsc_context *ctx, const ctx_step **steps);

/* `CHECK(call)`: return on an error. For calls that have no information status (> 0) to pass on, which
 * debug builds make sure of. */
#define CHECK(call)                  \
    do {                             \
        ddsc_status check_ = (call); \
        DDSC_ASSERT(check_ <= 0);    \
        if (check_ < 0)              \
            return check_;           \
    } while (0)

/* `TRY(call)`: on an error jump to `done`; needs a local `ddsc_status status`. Positive statuses
 * (information) are kept in `status` and do not jump. */
#define TRY(call)                          \
    do {                                   \
        ddsc_status try_ = (call);         \
        if (try_ < 0) {                    \
            status = try_;                 \
            goto done;                     \
        }                                  \
        if (try_ > 0 && status == DDSC_OK) \
            status = try_;                 \
    } while (0)

/* ---- memory: 64-byte aligned, counted, zero-size requests give a valid block ---- */

/* count x size bytes into *out (a pointer to a pointer); NULL on error. */
ddsc_status mem_get(ddsc_context *ctx, void *out, int64_t count, size_t size);
ddsc_status mem_zero(ddsc_context *ctx, void *out, int64_t count, size_t size);
/* A block with the content of another; NULL gives NULL. */
ddsc_status mem_copy(ddsc_context *ctx, void *out, const void *from, int64_t count, size_t size);
/* Grow or shrink; on error the old block stays as it was. */
ddsc_status mem_resize(ddsc_context *ctx, void *inout, int64_t count, size_t size);
/* Room for `need` elements in a block that grows by halves; *capacity elements fit. */
ddsc_status mem_reserve(ddsc_context *ctx, void *inout, int64_t *capacity, int64_t need,
                        size_t size);
void mem_free(ddsc_context *ctx, void *block);
void mem_free_all(ddsc_context *ctx, size_t count, void *const *blocks);
/* Memory that comes from elsewhere, against the same limit. */
ddsc_status mem_count(ddsc_context *ctx, int64_t bytes);
void mem_uncount(ddsc_context *ctx, int64_t bytes);
/* Bytes left under the context's limit (INT64_MAX without one), to size what may be large or small.
 */
int64_t ctx_memory_left(const ddsc_context *ctx);
#define MEM_NEW(ctx, pointer, count) mem_get(ctx, &(pointer), (int64_t)(count), sizeof *(pointer))
#define MEM_ZERO(ctx, pointer, count) mem_zero(ctx, &(pointer), (int64_t)(count), sizeof *(pointer))
#define MEM_RESERVE(ctx, pointer, capacity, need) \
    mem_reserve(ctx, &(pointer), capacity, need, sizeof *(pointer))
/* Free several blocks, NULL or not. */
#define MEM_FREE(ctx, ...) \
    mem_free_all(ctx, sizeof(void *[]){__VA_ARGS__} / sizeof(void *), (void *const[]){__VA_ARGS__})
#define MEM_COPY(ctx, pointer, from, count) \
    mem_copy(ctx, &(pointer), from, (int64_t)(count), sizeof *(pointer))

/* ---- hashes ---- */

/* XXH64 of bytes; to go on over several arrays, the hash of one is the seed of the next. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);
/* Of one number: the end of XXH64, which spreads every bit over all others. For tables in memory. */
static inline uint64_t hash_u64(uint64_t x)
{
    x = (x ^ x >> 33) * 0xC2B2AE3D27D4EB4Fu;
    x = (x ^ x >> 29) * 0x165667B19E3779F9u;
    return x ^ x >> 32;
}

/* ---- what ddsc_context_set_resume asked for ---- */

const char *ctx_resume_folder(const ddsc_context *ctx); /* NULL: nothing is kept */
void ctx_resume_pause(ddsc_context *ctx, bool pause); /* for work on other data than the caller's */
const char *ctx_resume_settings(const ddsc_context *ctx);  /* the caller's line */
void ctx_resume_count(ddsc_context *ctx, int64_t n_pairs); /* taken from the folder */

/* ---- what ddsc_context_set_device asked for ---- */

const char *ctx_device(const ddsc_context *ctx); /* "cpu", "auto", or the name of a device */
/* A device has served, or it has failed and is not asked again. */
void ctx_device_used(ddsc_context *ctx, const char *name);
void ctx_device_off(ddsc_context *ctx);
/* A search is over: a device that was asked for by its name and had no part in it is worth a warning. */
void ctx_device_tell(ddsc_context *ctx);
/* Is it "cpu", "auto", "cuda" or "cuda:1"? Of other plug-ins where the environment names their folder. */
bool ctx_device_named(const char *name);

/* ---- checked arithmetic: true when the result fits ---- */

static inline bool mul_ok(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}
static inline bool add_ok(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* ---- order: ascending ---- */

void sort_doubles(double *x, int64_t n);
void sort_i32(int32_t *x, int64_t n);
/* Where a value stands in a sorted array without equal ones, or -1. */
int64_t sort_find_i32(const int32_t *sorted, int64_t n, int32_t value);
void sort_i64(int64_t *x, int64_t n);
void sort_u64(uint64_t *x, int64_t n);
/* order = 0 .. n-1 by key, equal keys by position. */
void sort_order(int32_t *order, const double *key, int64_t n);
/* The k-th smallest (from 0) of n values, put at x[k] with none larger before it. */
double select_smallest(double *x, int64_t n, int64_t k);

/* ---- random numbers: Philox 4x32-10 (Salmon et al. 2011), a pure function of (seed, stream,
 * counter) */

typedef struct rng {
    uint64_t seed, stream, counter;
    uint64_t spare;
    bool has_spare;
} rng;

/* Named streams keep the uses of one seed apart. */
enum rng_stream {
    RNG_SHAPES = 1,
    RNG_GAUSSIANS,
    RNG_REFERENCE,
    RNG_BANDWIDTH,
    RNG_COST_SAMPLE,
    RNG_PAIR_MASK,
    RNG_EIGEN,
    RNG_EIGEN_VERIFY,
    RNG_KMEANS,
    RNG_SUBSET,
    RNG_REFERENCE_KMEANS,
    RNG_FRAMES,
    RNG_BARYCENTER,
    RNG_D2,
    RNG_LAYOUT,
    RNG_RESAMPLE,
    RNG_COLUMNS,
    RNG_HALVES,
    RNG_FEATURES,
    RNG_CHECK,
    RNG_DESCENT,
    RNG_REDUCE,
    RNG_WORDS,
    RNG_POINTS,
    RNG_ABOUT
};

/* `stream` one of the above; `part` tells restarts, items or blocks of one use apart. */
rng rng_make(uint64_t seed, enum rng_stream stream, uint64_t part);
uint64_t rng_u64(rng *r);
double rng_uniform(rng *r);           /* [0, 1), 53 bits */
double rng_normal(rng *r);            /* Box-Muller, one of each pair */
int64_t rng_below(rng *r, int64_t n); /* 0 .. n-1, unbiased */
uint64_t rng_hash(uint64_t seed, uint64_t stream, uint64_t a, uint64_t b); /* stateless draw */

/* ---- the parallel loop ---- */

/* Work on [begin, end); `worker` in [0, parallel_width(ctx)) picks a workspace. */
typedef ddsc_status (*parallel_fn)(void *arg, int64_t begin, int64_t end, int worker);

int parallel_width(const ddsc_context *ctx);
/* Cut [0, n) into pieces of `grain`, handed out in order to the threads. Results must not depend on
 * which thread does a piece. The error of the lowest piece is returned; a cancel stops the loop.
 * Information statuses (> 0) are merged: the largest is returned. Not to be nested. */
ddsc_status parallel_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg);

/* Run library code (BLAS) single-threaded in this thread: OpenBLAS changes bits with its threads.
 */
int serial_begin(void);
void serial_end(int saved);

/* A lock for short critical sections inside parallel_for. */
typedef struct spin {
    int held;
} spin;
void spin_lock(spin *s);
void spin_unlock(spin *s);

/* ---- progress: reported on the calling thread from within parallel_for ---- */

void progress_begin(ddsc_context *ctx, const char *stage, int64_t total);
void progress_add(ddsc_context *ctx, int64_t units); /* any thread */
void progress_end(ddsc_context *ctx);
/* Calling thread only, for long serial work: reports, and returns DDSC_ERROR_CANCELLED when asked.
 */
ddsc_status progress_poll(ddsc_context *ctx);

/* Monotonic clock; for statistics only, never for a decision. */
double clock_seconds(void);

/* ---- where the time goes: every moment of a context belongs to one stage ---- */

typedef struct stage_time {
    const char *name;
    double wall, cpu; /* seconds; cpu: of all threads of the process */
} stage_time;

/* What the calling thread is at from now on; returns the stage before, for stage_leave. A progress is
 * a stage of its own while it lasts. `name` stays where it is (a literal). */
const char *stage_enter(ddsc_context *ctx, const char *name);
void stage_leave(ddsc_context *ctx, const char *before);
/* All stages since the context was made, in order of first entry, up to now; they add up to the life
 * of the context. The first, "other", is time in no stage. */
int64_t stage_list(ddsc_context *ctx, const stage_time **list);
/* Wall seconds of one stage so far; 0 where it was never entered. */
double stage_seconds(ddsc_context *ctx, const char *name);

#endif
