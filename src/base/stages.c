/* The stage clock. When a stage begins, the elapsed time is charged to the previous one, so the
 * stage times always add up to the total. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"

static const char OTHER[] = "other";
/* A process that is older than this when it creates a context is assumed to have run another
 * program before (exec from a shell). */
static const double LONG_START_S = 10;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the start time of the process in clock ticks since boot, or 0 if unknown. The start time
 * is field 22 of /proc/self/stat. Field 2, the program name, may contain any characters. */
static double start_ticks(void)
{
    char line[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    double ticks = 0;
    if (file)
        fclose(file);
    line[n] = '\0';
    const char *at = strrchr(line, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at && sscanf(at, "%lf", &ticks) == 1 ? ticks : 0;
}

/* Returns the age of this process in seconds, rounded down by up to one tick (10 ms). The result is
 * at least `cpu`, the CPU time used so far. */
static double process_age(double cpu)
{
    struct timespec now;
    double ticks = start_ticks(), per_second = (double)sysconf(_SC_CLK_TCK);
    if (ticks <= 0 || per_second <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return cpu;
    return fmax(cpu, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - (ticks + 1) / per_second);
}

void stage_start(ddsc_context *ctx)
{
    double cpu = cpu_seconds(), age = ctx->set.whole_process ? process_age(cpu) : 0;
    ctx->times[0] = (stage_time){.name = OTHER};
    ctx->n_times = 1;
    if (ctx->set.whole_process && age < LONG_START_S)
        ctx->times[ctx->n_times++] = (stage_time){.name = "start", .wall = age, .cpu = cpu};
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

/* Returns the index of a stage. If there are too many stages, new ones are added to "other". */
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

double stage_seconds(ddsc_context *ctx, const char *name)
{
    charge(ctx);
    for (int i = 0; i < ctx->n_times; i++)
        if (strcmp(ctx->times[i].name, name) == 0)
            return ctx->times[i].wall;
    return 0;
}

int64_t stage_list(ddsc_context *ctx, const stage_time **list)
{
    charge(ctx);
    *list = ctx->times;
    return ctx->n_times;
}
