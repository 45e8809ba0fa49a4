/* The threads of parallel_for. OpenMP threads spin at the barrier of every loop, so on a busy
 * machine each of them wastes a time slice per loop. The helper threads here sleep instead, and the
 * caller waits only for those that are working. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"

ddsc_status pool_init(pool *p)
{
    *p = (pool){0};
    if (pthread_mutex_init(&p->lock, NULL))
        return DDSC_ERROR_MEMORY;
    if (pthread_cond_init(&p->wake, NULL))
        goto no_wake;
    if (pthread_cond_init(&p->idle, NULL))
        goto no_idle;
    return DDSC_OK;
no_idle:
    pthread_cond_destroy(&p->wake);
no_wake:
    pthread_mutex_destroy(&p->lock);
    return DDSC_ERROR_MEMORY;
}

static void *helper_main(void *arg)
{
    pool *p = arg;
    serial_begin();
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stop && p->seats == 0)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->stop)
            break;
        int worker = p->width - p->seats--;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        p->job(p->arg, worker);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts helpers with all signals blocked, so that signals are handled by the program's own
 * threads. If no thread can be created, the caller works alone. */
static void start_helpers(ddsc_context *ctx, int wanted)
{
    pool *p = &ctx->pool;
    if (p->n_helpers >= wanted)
        return;
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    p->owner = getpid();
    while (p->n_helpers < wanted &&
           pthread_create(&ctx->helper[p->n_helpers], NULL, helper_main, p) == 0)
        p->n_helpers++;
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

/* Resets the pool in a forked child. The child has no helpers, and a helper of the parent may have
 * held the lock when it was copied. */
static void forget_helpers_of_the_parent(pool *p)
{
    if (p->n_helpers == 0 || p->owner == getpid())
        return;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->n_helpers = p->seats = p->busy = 0;
}

/* Waits for the busy helpers. Only the calling thread may call the user's cancel function. While
 * the thread waits, it calls the function every 50 ms, so that helpers working on long items notice
 * a cancellation. */
static void wait_for_helpers(ddsc_context *ctx)
{
    pool *p = &ctx->pool;
    while (p->busy > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->idle, &p->lock, &until);
        if (p->busy == 0 || !ctx->set.cancel)
            continue;
        pthread_mutex_unlock(&p->lock); /* the user's callback may be slow */
        ctx_canceled(ctx);
        pthread_mutex_lock(&p->lock);
    }
}

void pool_run(ddsc_context *ctx, int width, void (*job)(void *arg, int worker), void *arg)
{
    pool *p = &ctx->pool;
    forget_helpers_of_the_parent(p);
    start_helpers(ctx, width - 1);
    pthread_mutex_lock(&p->lock);
    p->job = job;
    p->arg = arg;
    p->width = width;
    p->seats = width - 1;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    job(arg, 0);
    pthread_mutex_lock(&p->lock);
    p->seats = 0;
    wait_for_helpers(ctx);
    pthread_mutex_unlock(&p->lock);
}

void pool_destroy(ddsc_context *ctx)
{
    pool *p = &ctx->pool;
    if (p->n_helpers > 0 && p->owner != getpid())
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    for (int i = 0; i < p->n_helpers; i++)
        pthread_join(ctx->helper[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
}
