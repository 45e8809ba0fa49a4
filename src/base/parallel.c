/* The parallel loop. This is the only file that uses OpenMP, which provides the number of
 * processors and limits OpenBLAS to one thread. Without OpenMP, everything runs on the calling
 * thread. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include <sched.h>

#include "base/context.h"

enum { MOST_THREADS = 4096 };

int parallel_threads(int asked)
{
#ifdef _OPENMP
    return asked > 0 ? BASE_MIN(asked, MOST_THREADS) : BASE_MAX(1, omp_get_num_procs());
#else
    (void)asked;
    return 1;
#endif
}

int parallel_width(const ddsc_context *ctx)
{
    return ctx->threads;
}

int serial_begin(void)
{
#ifdef _OPENMP
    int saved = omp_get_max_threads();
    omp_set_num_threads(1);
    return saved;
#else
    return 1;
#endif
}

void serial_end(int saved)
{
#ifdef _OPENMP
    omp_set_num_threads(saved);
#else
    (void)saved;
#endif
}

typedef struct loop {
    ddsc_context *ctx;
    parallel_fn fn;
    void *arg;
    int64_t n, grain, n_pieces;
    _Atomic int64_t next;
    _Atomic int64_t bad_piece; /* first chunk that has failed so far */
    atomic_int bad_status, info;
    spin lock;
} loop;

static void loop_record(loop *l, int64_t piece, ddsc_status status)
{
    if (status > 0) {
        int seen = atomic_load(&l->info);
        while (status > seen && !atomic_compare_exchange_weak(&l->info, &seen, (int)status)) {
        }
    }
    if (status >= 0)
        return;
    spin_lock(&l->lock);
    if (piece < atomic_load(&l->bad_piece)) {
        atomic_store(&l->bad_piece, piece);
        atomic_store(&l->bad_status, (int)status);
    }
    spin_unlock(&l->lock);
}

/* Processes chunks until one fails. Chunks before a failed one still run, so the first failed chunk
 * is the same for any number of threads. */
static void loop_work(void *arg, int worker)
{
    loop *l = arg;
    for (;;) {
        int64_t piece = atomic_fetch_add(&l->next, 1);
        if (piece >= l->n_pieces || piece > atomic_load(&l->bad_piece))
            return;
        if (worker == 0)
            loop_record(l, piece, progress_poll(l->ctx));
        if (ctx_canceled(l->ctx)) {
            loop_record(l, piece, DDSC_ERROR_CANCELED);
            return;
        }
        int64_t begin = piece * l->grain, end = BASE_MIN(l->n, begin + l->grain);
        loop_record(l, piece, l->fn(l->arg, begin, end, worker));
    }
}

ddsc_status parallel_for(ddsc_context *ctx, int64_t n, int64_t grain, parallel_fn fn, void *arg)
{
    if (n <= 0)
        return DDSC_OK;
    ddsc_status status = progress_poll(ctx);
    if (status != DDSC_OK)
        return status;
    grain = BASE_MAX(1, grain);
    loop l = {.ctx = ctx, .fn = fn, .arg = arg, .n = n, .grain = grain};
    l.n_pieces = n / grain + (n % grain != 0);
    atomic_store(&l.bad_piece, INT64_MAX);
    int width = (int)BASE_MIN((int64_t)parallel_width(ctx), l.n_pieces);
    int saved = serial_begin();
    if (width > 1)
        pool_run(ctx, width, loop_work, &l);
    else
        loop_work(&l, 0);
    serial_end(saved);
    int bad = atomic_load(&l.bad_status);
    if (bad == DDSC_ERROR_CANCELED)
        return ctx_fail(ctx, DDSC_ERROR_CANCELED, "stopped on request");
    return (ddsc_status)(bad ? bad : atomic_load(&l.info));
}

void spin_lock(spin *s)
{
    while (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&s->held, __ATOMIC_RELAXED))
            sched_yield();
}

void spin_unlock(spin *s)
{
    __atomic_store_n(&s->held, 0, __ATOMIC_RELEASE);
}
