/* The inside of a context; only base/ and the allocator test include this. */
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

/* Helper threads, started by the first loop that wants them. Between loops they sleep. */
typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    void (*job)(void *arg, int worker);
    void *arg;
    int width;     /* of the loop at hand */
    int seats;     /* helpers it can still take */
    int busy;      /* helpers at work */
    int n_helpers; /* threads started */
    bool stop;
    pid_t owner; /* a forked child has no helpers to join */
} pool;

/* A block that the ranks of a machine share, or stands for one. */
typedef struct team_block {
    struct team_block *next;
    void *memory; /* aligned */
    void *raw;    /* as the team gave it */
    int64_t bytes;
    bool first; /* this rank fills it */
    void *state;
    void (*unshare)(void *state, void *block); /* NULL: memory of this rank alone */
} team_block;

struct ddsc_context {
    ddsc_context_settings set;
    int threads;
    atomic_int message_state; /* 0 empty, 1 being written, 2 there */
    char message[CTX_MESSAGE_SIZE];
    ctx_note_entry note[CTX_NOTES]; /* of the last call */
    int n_notes;
    ctx_step step[CTX_STEPS]; /* of all calls before */
    int n_steps;
    atomic_int cancelled;
    bool held_open;   /* by a public call that makes others */
    pthread_t caller; /* of the call at work: the one thread that may ask the user */
    double last_asked;
    _Atomic int64_t held, peak;
    ddsc_detail detail[CTX_DETAILS];
    int64_t n_details;
    const char *stage;
    _Atomic int64_t done;
    int64_t total;
    double last_report;
    stage_time times[CTX_STAGES];
    int n_times, at_time;                  /* stages; the one at work */
    double since, since_cpu;               /* when it began */
    const char *before_progress;           /* the stage that a progress interrupted */
    char *resume_folder, *resume_settings; /* or NULL */
    bool resume_paused;
    char device[CTX_DEVICE_SIZE], device_used[CTX_DEVICE_SIZE]; /* asked for; "" for "cpu" */
    bool device_served; /* in the call at work; device_used: since it was asked for */
    _Atomic int64_t resumed;
    ddsc_team team; /* all zero: one rank */
    team_block *blocks;
    double team_scale; /* the loop at work over this rank's part of it; 0: it is not divided */
    pool pool;
    pthread_t helper[]; /* threads - 1 */
};

void stage_start(ddsc_context *ctx);
int parallel_threads(int asked); /* 0: as many as the machine has */
ddsc_status pool_init(pool *p);
void pool_destroy(ddsc_context *ctx);
/* job(arg, 0) here and job(arg, w) for w in 1 .. width-1 on helpers that come in time: a helper
 * that is slow to wake is not waited for, so `job` must share the work out as it goes. */
void pool_run(ddsc_context *ctx, int width, void (*job)(void *arg, int worker), void *arg);

#endif
