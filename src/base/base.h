/* base: the lowest layer, which all modules use. It provides the context, error messages, the
 * allocator, checked sizes, counter-based random numbers and the parallel loop. The layer depends
 * only on libc, threads and (in parallel.c) OpenMP. */
#ifndef DDSC_BASE_BASE_H
#define DDSC_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"
#include "ddsc/ddsc.h"

#define BASE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BASE_MAX(a, b) ((a) > (b) ? (a) : (b))
/* Rounds n up to a multiple of `unit`. */
#define BASE_ROUND_UP(n, unit) (((n) + (unit)-1) / (unit) * (unit))

/* ---- errors: a call reports its first message ---- */

/* Every public function begins with a CHECK of ctx_enter or ctx_enter_new. These functions reject a
 * missing context and clear the message of the previous call. ctx_enter_new also sets the output
 * pointer to NULL; the public function stores the new object only when it is complete. */
ddsc_status ctx_enter(ddsc_context *ctx);
ddsc_status ctx_enter_new(ddsc_context *ctx, void *out);
/* Creates a context for a computation that is not part of the result, such as one on a subset of
 * the items. The new context has the seed, the allocator, the threads and the remaining memory of
 * ctx, and is canceled together with ctx. It issues no warnings and has no progress, device, resume
 * folder or team. If `status` is an error, closing the new context moves its message to the current
 * call of ctx. */
ddsc_status ctx_create_quiet(ddsc_context **quiet, ddsc_context *ctx);
void ctx_close_quiet(ddsc_context *ctx, ddsc_context *quiet, ddsc_status status);
/* Keeps the state of the current call (message, details, notes) while that call makes further
 * public calls, which would otherwise clear it. */
void ctx_hold(ddsc_context *ctx, bool hold);
/* Records a message, unless the call already has one. Returns `status`, so that callers can write
 * `return ctx_fail(...)`. */
ddsc_status ctx_fail(ddsc_context *ctx, ddsc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns true if the current public call was canceled. A canceled call remains canceled until it
 * returns. May be called from any thread. On the calling thread, ctx_canceled also polls the user's
 * callback periodically. Work that takes more than a few milliseconds should call ctx_canceled. */
bool ctx_canceled(ddsc_context *ctx);
/* Passes a warning to the caller immediately. Must be called on the calling thread. */
void ctx_warn(ddsc_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records a named number about the current call for ddsc_context_get_details, or replaces its
 * value. `name` must be a literal. Must be called on the calling thread. */
void ctx_detail(ddsc_context *ctx, const char *name, double value);
/* Fails with "NAME is NULL" if the pointer is NULL. */
ddsc_status ctx_need(ddsc_context *ctx, const void *pointer, const char *name);
/* Fails with "FIELD = VALUE: must be RULE" unless the field of the caller's settings is valid. */
ddsc_status ctx_check(ddsc_context *ctx, bool good, const char *field, double value,
                      const char *rule);
/* Replaces a name in the message of the current call. */
void ctx_reword(ddsc_context *ctx, const char *from, const char *to);
/* Rejects bits of `flags` that are not in `known`; `who` is the name of the function. */
ddsc_status ctx_check_flags(ddsc_context *ctx, const char *who, unsigned flags, unsigned known);
uint64_t ctx_seed(const ddsc_context *ctx);
/* Return the context's settings for reading files: the timeout in seconds (negative: no child
 * process), and the encoding of text. */
double ctx_read_timeout(const ddsc_context *ctx);
ddsc_encoding ctx_encoding(const ddsc_context *ctx);
/* Disables the user's callbacks. Called in a forked child process. */
void ctx_detach(ddsc_context *ctx);
/* Returns the current message, or "", and clears it, so that the next error records a new one. */
const char *ctx_take_message(ddsc_context *ctx);
/* Records a decision of the current call: which path a stage took, and why. A repeated decision
 * is recorded once. `stage` and `path` must be literals. Must be called on the calling thread. */
void ctx_note(ddsc_context *ctx, const char *stage, const char *path, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the distinct paths that stages took in all calls before the current one. */
typedef struct ctx_step {
    char stage[32], path[64], why[160];
} ctx_step;
int64_t ctx_steps(const ddsc_context *ctx, const ctx_step **steps);

/* `CHECK(call)` returns on an error. It must not be used for calls that return information statuses
 * (> 0), because it would discard them; debug builds check this. */
#define CHECK(call)                  \
    do {                             \
        ddsc_status check_ = (call); \
        DDSC_ASSERT(check_ <= 0);    \
        if (check_ < 0)              \
            return check_;           \
    } while (0)

/* `TRY(call)` jumps to `done` on an error; it needs a local `ddsc_status status`. Positive
 * statuses (information) are stored in `status` without a jump. */
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

/* ---- memory: aligned to 64 bytes and counted; a request for 0 bytes returns a valid block ---- */

/* Allocates count x size bytes and stores the address in *out (a pointer to a pointer), or NULL on
 * error. */
ddsc_status mem_get(ddsc_context *ctx, void *out, int64_t count, size_t size);
ddsc_status mem_zero(ddsc_context *ctx, void *out, int64_t count, size_t size);
/* Allocates a copy of another block. If `from` is NULL, the copy is NULL. */
ddsc_status mem_copy(ddsc_context *ctx, void *out, const void *from, int64_t count, size_t size);
/* Resizes a block. On error, the old block is unchanged. */
ddsc_status mem_resize(ddsc_context *ctx, void *inout, int64_t count, size_t size);
/* Ensures space for `need` elements in a block that grows by half; *capacity is its current size in
 * elements. */
ddsc_status mem_reserve(ddsc_context *ctx, void *inout, int64_t *capacity, int64_t need,
                        size_t size);
void mem_free(ddsc_context *ctx, void *block);
void mem_free_all(ddsc_context *ctx, size_t count, void *const *blocks);
/* Counts memory from another allocator toward the limit of the context. */
ddsc_status mem_count(ddsc_context *ctx, int64_t bytes);
void mem_uncount(ddsc_context *ctx, int64_t bytes);
/* Returns the number of bytes left under the context's limit (INT64_MAX without one), for choosing
 * the size of optional buffers. */
int64_t ctx_memory_left(const ddsc_context *ctx);
#define MEM_NEW(ctx, pointer, count) mem_get(ctx, &(pointer), (int64_t)(count), sizeof *(pointer))
#define MEM_ZERO(ctx, pointer, count) mem_zero(ctx, &(pointer), (int64_t)(count), sizeof *(pointer))
#define MEM_RESERVE(ctx, pointer, capacity, need) \
    mem_reserve(ctx, &(pointer), capacity, need, sizeof *(pointer))
/* Frees several blocks, some of which may be NULL. */
#define MEM_FREE(ctx, ...) \
    mem_free_all(ctx, sizeof(void *[]){__VA_ARGS__} / sizeof(void *), (void *const[]){__VA_ARGS__})
#define MEM_COPY(ctx, pointer, from, count) \
    mem_copy(ctx, &(pointer), from, (int64_t)(count), sizeof *(pointer))

/* ---- hashes ---- */

/* Returns the XXH64 hash of bytes. To hash several arrays, pass the hash of one as the seed of the
 * next. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);
/* Hashes one number with the final mixing step of XXH64, in which every input bit affects all
 * output bits. Intended for hash tables in memory. */
static inline uint64_t hash_u64(uint64_t x)
{
    x = (x ^ x >> 33) * 0xC2B2AE3D27D4EB4Fu;
    x = (x ^ x >> 29) * 0x165667B19E3779F9u;
    return x ^ x >> 32;
}

/* ---- settings from ddsc_context_set_resume ---- */

const char *ctx_resume_folder(const ddsc_context *ctx);    /* NULL: nothing is stored */
void ctx_resume_pause(ddsc_context *ctx, bool pause);      /* suspends resuming */
const char *ctx_resume_settings(const ddsc_context *ctx);  /* the caller's settings line */
void ctx_resume_count(ddsc_context *ctx, int64_t n_pairs); /* adds to the pairs read */

/* ---- settings from ddsc_context_set_device ---- */

const char *ctx_device(const ddsc_context *ctx); /* "cpu", "auto", or the name of a device */
/* Record that a device was used, and that a device failed and must not be tried again. */
void ctx_device_used(ddsc_context *ctx, const char *name);
void ctx_device_off(ddsc_context *ctx);
/* Called after a search. Warns if a device that the user requested by name was not used. */
void ctx_device_report(ddsc_context *ctx);
/* Returns true if `name` is "cpu", "auto", "cuda" or "cuda:1". If the environment specifies a
 * plug-in folder, other plug-in names are also valid. */
bool ctx_device_named(const char *name);

/* ---- checked arithmetic: true if the result fits ---- */

static inline bool mul_ok(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}
static inline bool add_ok(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* ---- sorting in ascending order ---- */

void sort_doubles(double *x, int64_t n);
void sort_i32(int32_t *x, int64_t n);
/* Returns the index of a value in a sorted array of distinct values, or -1. */
int64_t sort_find_i32(const int32_t *sorted, int64_t n, int32_t value);
void sort_i64(int64_t *x, int64_t n);
void sort_u64(uint64_t *x, int64_t n);
/* Sets `order` to the indices 0 .. n-1 sorted by key. Equal keys are sorted by index. */
void sort_order(int32_t *order, const double *key, int64_t n);
/* Returns the k-th smallest of n values, counting from 0. Reorders x so that this value is x[k]
 * and no value before it is larger. */
double select_smallest(double *x, int64_t n, int64_t k);

/* ---- random numbers: Philox 4x32-10 (Salmon et al. 2011), a pure function of (seed, stream,
 * counter) ---- */

typedef struct rng {
    uint64_t seed, stream, counter;
    uint64_t spare;
    bool has_spare;
} rng;

/* Different uses of a seed have different streams. */
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
    RNG_ABOUT,
    RNG_PERMANOVA,
    RNG_ORDER,
    RNG_STATES
};

/* Creates a generator. `part` distinguishes the restarts, items or blocks that use one stream. */
rng rng_make(uint64_t seed, enum rng_stream stream, uint64_t part);
uint64_t rng_u64(rng *r);
double rng_uniform(rng *r);           /* [0, 1), 53 bits */
double rng_normal(rng *r);            /* Box-Muller; the second value of each pair is discarded */
int64_t rng_below(rng *r, int64_t n); /* 0 .. n-1, unbiased */
uint64_t rng_hash(uint64_t seed, uint64_t stream, uint64_t a, uint64_t b); /* stateless */

/* ---- the parallel loop ---- */

/* Processes [begin, end). `worker` in [0, parallel_width(ctx)) selects a workspace. */
typedef ddsc_status (*parallel_fn)(void *arg, int64_t begin, int64_t end, int worker);

int parallel_width(const ddsc_context *ctx);
/* Divides [0, n) into chunks of `grain` indices and assigns them to the threads in order. Results
 * must not depend on which thread processes a chunk. Returns the error of the first chunk that
 * failed, or the largest information status (> 0). A cancellation stops the loop. Calls must not be
 * nested. */
ddsc_status parallel_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg);

/* Make BLAS single-threaded in this thread, and restore the number of BLAS threads, on which the
 * results of OpenBLAS depend. */
int serial_begin(void);
void serial_end(int saved);

/* A lock for short critical sections in parallel_for. */
typedef struct spin {
    int held;
} spin;
void spin_lock(spin *s);
void spin_unlock(spin *s);

/* ---- progress: always reported on the calling thread, even during parallel_for ---- */

void progress_begin(ddsc_context *ctx, const char *stage, int64_t total);
void progress_add(ddsc_context *ctx, int64_t units); /* any thread */
void progress_end(ddsc_context *ctx);
/* Reports progress during long serial work, and returns DDSC_ERROR_CANCELED if the call was
 * canceled. Must be called on the calling thread. */
ddsc_status progress_poll(ddsc_context *ctx);

/* Returns a monotonic time in seconds. It must never affect results. */
double clock_seconds(void);

/* ---- stage times: a context is always in exactly one stage ---- */

typedef struct stage_time {
    const char *name;
    double wall, cpu; /* in seconds; cpu: the sum over all threads of the process */
} stage_time;

/* Enters a stage and returns the previous one, for stage_leave. progress_begin and progress_end do
 * the same for the stage whose progress is reported. `name` must be a literal. Must be called on
 * the calling thread. */
const char *stage_enter(ddsc_context *ctx, const char *name);
void stage_leave(ddsc_context *ctx, const char *before);
/* Lists all stages since the context was created, in order of first entry. The times add up to the
 * age of the context. The first stage, "other", contains the time outside all other stages. */
int64_t stage_list(ddsc_context *ctx, const stage_time **list);
/* Returns the wall-clock seconds spent in one stage so far, or 0 if it was never entered. */
double stage_seconds(ddsc_context *ctx, const char *name);

#endif
