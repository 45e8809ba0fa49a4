/* The internals of a context. Only base/ and the allocator test include this file. */
#ifndef DDSC_BASE_CONTEXT_H
#define DDSC_BASE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/base.h"

enum {
    CTX_MESSAGE_SIZE = 1024,
    CTX_DETAILS = 64,
    CTX_NOTES = 24,
    CTX_STEPS = 32,
    CTX_WHY_SIZE = 160,
    CTX_STAGES = 64,
    CTX_DEVICE_SIZE = 32
};

typedef struct ctx_note_entry {
    const char *stage, *path;
    char why[CTX_WHY_SIZE];
} ctx_note_entry;

/* Helper threads, started by the first loop that needs them. They sleep between loops. */
typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    void (*job)(void *arg, int worker);
    void *arg;
    int width;     /* number of workers in the current loop */
    int seats;     /* helpers that may still join */
    int busy;      /* helpers that are working */
    int n_helpers; /* threads started */
    bool stop;
    pid_t owner; /* the process that started the helpers; a forked child has none */
} pool;

/* A block shared by the ranks of a machine, or a private block used in its place. */
typedef struct team_block {
    struct team_block *next;
    void *memory; /* aligned */
    void *raw;    /* as returned by the team */
    int64_t bytes;
    bool first; /* this rank fills it */
    void *state;
    void (*unshare)(void *state, void *block); /* NULL: the memory is private to this rank */
} team_block;

struct ddsc_context {
    ddsc_context_settings set;
    int threads;
    atomic_int message_state; /* 0 empty, 1 being written, 2 complete */
    char message[CTX_MESSAGE_SIZE];
    ctx_note_entry note[CTX_NOTES]; /* notes of the current or last call */
    int n_notes;
    ctx_step step[CTX_STEPS]; /* distinct notes of all previous calls */
    int n_steps;
    atomic_int canceled;
    bool held_open;   /* set by a public call that makes further public calls */
    pthread_t caller; /* thread that calls the user's callbacks */
    double last_asked;
    _Atomic int64_t held, peak;
    ddsc_detail detail[CTX_DETAILS];
    int64_t n_details;
    const char *stage;
    _Atomic int64_t done;
    int64_t total;
    double last_report;
    stage_time times[CTX_STAGES];
    int n_times, at_time;                  /* number of stages; index of the current one */
    double since, since_cpu;               /* start of the current stage */
    const char *before_progress;           /* stage that the progress display interrupted */
    char *resume_folder, *resume_settings; /* or NULL */
    bool resume_paused;
    char device[CTX_DEVICE_SIZE], device_used[CTX_DEVICE_SIZE]; /* requested; used */
    bool device_served; /* a device was used in the current call */
    _Atomic int64_t resumed;
    ddsc_team team; /* all fields are zero if there is only one rank */
    team_block *blocks;
    double team_scale; /* size of the loop divided by the size of this rank's part; 0: the loop is
                        * not divided */
    pool pool;
    pthread_t helper[]; /* threads - 1 */
};

void stage_start(ddsc_context *ctx);
/* Returns the number of threads to use: `asked` or, if `asked` is 0, one per processor. Without
 * OpenMP, returns 1. */
int parallel_threads(int asked);
ddsc_status pool_init(pool *p);
void pool_destroy(ddsc_context *ctx);
/* Runs job(arg, 0) on this thread and job(arg, w), for w in 1 .. width-1, on the helpers that
 * start in time. pool_run does not wait for a helper that is slow to wake, so `job` must
 * distribute the work dynamically. */
void pool_run(ddsc_context *ctx, int width, void (*job)(void *arg, int worker), void *arg);

#endif
