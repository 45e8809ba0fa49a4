/* The clock of stages: time is charged to the stage at work whenever another begins, so the stages
 * add up to the whole by construction. */
#include <string.h>
#include <time.h>

#include "base/context.h"

static const char OTHER[] = "other";

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void stage_start(ddsc_context *ctx)
{
    ctx->times[0] = (stage_time){.name = OTHER};
    ctx->n_times = 1;
    ctx->at_time = 0;
    ctx->since = clock_seconds();
    ctx->since_cpu = cpu_seconds();
}

static void charge(ddsc_context *ctx)
{
    stage_time *t = &ctx->times[ctx->at_time];
    double now = clock_seconds(), cpu = cpu_seconds();
    t->wall += now - ctx->since;
    t->cpu += cpu - ctx->since_cpu;
    ctx->since = now;
    ctx->since_cpu = cpu;
}

/* Where a name stands; one too many is among the others. */
static int place_of(ddsc_context *ctx, const char *name)
{
    for (int i = 0; i < ctx->n_times; i++)
        if (strcmp(ctx->times[i].name, name) == 0)
            return i;
    if (ctx->n_times == CTX_STAGES)
        return 0;
    ctx->times[ctx->n_times] = (stage_time){.name = name};
    return ctx->n_times++;
}

const char *stage_enter(ddsc_context *ctx, const char *name)
{
    const char *before = ctx->times[ctx->at_time].name;
    charge(ctx);
    ctx->at_time = place_of(ctx, name);
    return before;
}

void stage_leave(ddsc_context *ctx, const char *before)
{
    stage_enter(ctx, before ? before : OTHER);
}

int64_t stage_list(ddsc_context *ctx, const stage_time **list)
{
    charge(ctx);
    *list = ctx->times;
    return ctx->n_times;
}
