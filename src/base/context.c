/* The context: settings, messages, warnings, details, cancellation, progress, and the clock. */
#include "base/context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sized.h"
#include "base/team.h"
#include "base/version.h"

const char *ddsc_version(void)
{
    return DDSC_VERSION;
}

const char *ddsc_features(void)
{
    return DDSC_FEATURES;
}

const char *ddsc_status_name(ddsc_status status)
{
    switch (status) {
    case DDSC_OK: return "ok";
    case DDSC_NOT_CONVERGED: return "not converged";
    case DDSC_ERROR_ARGUMENT: return "bad argument";
    case DDSC_ERROR_INPUT: return "bad input";
    case DDSC_ERROR_MEMORY: return "out of memory";
    case DDSC_ERROR_IO: return "input/output error";
    case DDSC_ERROR_EXISTS: return "file exists";
    case DDSC_ERROR_CANCELED: return "canceled";
    case DDSC_ERROR_INTERNAL: return "internal error";
    }
    return "unknown status";
}

static void *libc_allocate(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void *libc_reallocate(void *user, void *block, size_t size)
{
    (void)user;
    return realloc(block, size);
}

static void libc_release(void *user, void *block)
{
    (void)user;
    free(block);
}

static const ddsc_context_settings defaults = {.read_timeout_s = 60};
SIZED_INIT(settings_struct, ddsc_context_settings, cancel_user, &defaults);

static bool context_settings_take(ddsc_context_settings *own, const ddsc_context_settings *given)
{
    if (!sized_copy(&settings_struct, own, given))
        return false;
    int n_hooks = !!own->allocate + !!own->reallocate + !!own->release;
    if (own->threads < 0 || own->memory_limit < 0 || (n_hooks != 0 && n_hooks != 3) ||
        (own->whole_process != 0 && own->whole_process != 1) || !isfinite(own->read_timeout_s) ||
        (unsigned)own->encoding > DDSC_ENCODING_CP1252)
        return false;
    if (n_hooks == 0) {
        own->allocate = libc_allocate;
        own->reallocate = libc_reallocate;
        own->release = libc_release;
    }
    return true;
}

static ddsc_status context_make(ddsc_context **context, const ddsc_context_settings *own)
{
    int threads = parallel_threads(own->threads);
    size_t size = sizeof(ddsc_context) + (size_t)(threads - 1) * sizeof(pthread_t);
    ddsc_context *ctx = own->allocate(own->allocator_user, size);
    if (!ctx)
        return DDSC_ERROR_MEMORY;
    memset(ctx, 0, size);
    ctx->set = *own;
    ctx->threads = threads;
    stage_start(ctx);
    ddsc_status status = pool_init(&ctx->pool);
    if (status != DDSC_OK)
        own->release(own->allocator_user, ctx);
    else
        *context = ctx;
    return status;
}

ddsc_status ddsc_context_create(ddsc_context **context, const ddsc_context_settings *settings)
{
    ddsc_context_settings own;
    if (!context)
        return DDSC_ERROR_ARGUMENT;
    *context = NULL;
    if (!context_settings_take(&own, settings))
        return DDSC_ERROR_ARGUMENT;
    return context_make(context, &own);
}

static int is_canceled(void *ctx)
{
    return ctx_canceled(ctx);
}

ddsc_status ctx_create_quiet(ddsc_context **quiet, ddsc_context *ctx)
{
    ddsc_context_settings set = ctx->set;
    *quiet = NULL;
    set.threads = ctx->threads;
    set.memory_limit = set.memory_limit > 0 ? BASE_MAX(1, ctx_memory_left(ctx)) : 0;
    set.cancel = is_canceled;
    set.cancel_user = ctx;
    set.progress = NULL;
    set.warning = NULL;
    set.whole_process = 0;
    if (context_make(quiet, &set) != DDSC_OK)
        return ctx_fail(ctx, DDSC_ERROR_MEMORY, "out of memory");
    return ctx_enter(*quiet);
}

void ctx_close_quiet(ddsc_context *ctx, ddsc_context *quiet, ddsc_status status)
{
    if (!quiet)
        return;
    if (status < 0 && quiet->message[0])
        ctx_fail(ctx, status, "%s", quiet->message);
    int64_t peak = atomic_load(&ctx->held) + atomic_load(&quiet->peak);
    atomic_store(&ctx->peak, BASE_MAX(peak, atomic_load(&ctx->peak)));
    ddsc_context_destroy(quiet);
}

void ddsc_context_destroy(ddsc_context *context)
{
    if (!context)
        return;
    pool_destroy(context);
    while (context->blocks)
        team_unshare(context, context->blocks->memory);
    MEM_FREE(context, context->resume_folder, context->resume_settings);
    context->set.release(context->set.allocator_user, context);
}

const char *ddsc_context_get_message(const ddsc_context *context)
{
    return context ? context->message : "no context";
}

int ddsc_context_get_threads(const ddsc_context *context)
{
    return context ? context->threads : 0;
}

const ddsc_detail *ddsc_context_get_details(const ddsc_context *context, int64_t *n_details)
{
    if (n_details)
        *n_details = context ? context->n_details : 0;
    return context ? context->detail : NULL;
}

int64_t ddsc_context_get_peak_memory(const ddsc_context *context)
{
    return context ? atomic_load(&((ddsc_context *)(uintptr_t)context)->peak) : 0;
}

/* ---- devices ---- */

bool ctx_device_named(const char *name)
{
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = name[letters] == ':' ? strspn(name + letters + 1, "0123456789") : 0;
    bool whole = name[letters] == '\0' || (digits > 0 && name[letters + 1 + digits] == '\0');
    bool numbered = strncmp(name, "cpu:", 4) != 0 && strncmp(name, "auto:", 5) != 0;
    bool known = strcmp(name, "cpu") == 0 || strcmp(name, "auto") == 0 ||
                 (letters == 4 && strncmp(name, "cuda", 4) == 0) ||
                 secure_getenv("DDSC_PLUGIN_PATH");
    return letters > 0 && letters <= 16 && digits <= 3 && whole && numbered && known;
}

ddsc_status ddsc_context_set_device(ddsc_context *ctx, const char *device)
{
    CHECK(ctx_enter(ctx));
    device = device ? device : "cpu";
    if (!ctx_device_named(device))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                        "device = \"%.40s\": must be auto, cpu, cuda or cuda:N", device);
    snprintf(ctx->device, sizeof ctx->device, "%s", device);
    ctx->device_used[0] = '\0';
    return DDSC_OK;
}

const char *ddsc_context_get_device(const ddsc_context *context)
{
    return context && context->device_used[0] ? context->device_used : "cpu";
}

const char *ctx_device(const ddsc_context *ctx)
{
    return ctx->device[0] ? ctx->device : "cpu";
}

void ctx_device_used(ddsc_context *ctx, const char *name)
{
    snprintf(ctx->device_used, sizeof ctx->device_used, "%s", name);
    ctx->device_served = true;
}

void ctx_device_report(ddsc_context *ctx)
{
    const char *name = ctx_device(ctx);
    if (strcmp(name, "cpu") != 0 && strcmp(name, "auto") != 0 && !ctx->device_served)
        ctx_warn(ctx, "device %s was not used, because this search cannot use a device", name);
}

void ctx_device_off(ddsc_context *ctx)
{
    ctx->device[0] = '\0';
}

void ctx_hold(ddsc_context *ctx, bool hold)
{
    ctx->held_open = hold;
}

/* Adds the notes of the previous call to the steps of the context. */
static void keep_notes(ddsc_context *ctx)
{
    for (int i = 0; i < ctx->n_notes && ctx->n_steps < CTX_STEPS; i++) {
        const ctx_note_entry *note = &ctx->note[i];
        ctx_step step;
        bool known = false;
        snprintf(step.stage, sizeof step.stage, "%s", note->stage);
        snprintf(step.path, sizeof step.path, "%s", note->path);
        snprintf(step.why, sizeof step.why, "%s", note->why);
        for (int k = 0; k < ctx->n_steps; k++)
            known |= strcmp(ctx->step[k].stage, step.stage) == 0 &&
                     strcmp(ctx->step[k].path, step.path) == 0;
        ctx->step[ctx->n_steps] = step;
        ctx->n_steps += !known;
    }
}

int64_t ctx_steps(const ddsc_context *ctx, const ctx_step **steps)
{
    *steps = ctx->step;
    return ctx->n_steps;
}

ddsc_status ctx_enter(ddsc_context *ctx)
{
    if (!ctx)
        return DDSC_ERROR_ARGUMENT;
    if (ctx->held_open)
        return DDSC_OK;
    ctx->message[0] = '\0';
    keep_notes(ctx);
    ctx->n_notes = 0;
    atomic_store(&ctx->message_state, 0);
    atomic_store(&ctx->canceled, 0);
    ctx->n_details = 0;
    ctx->device_served = false;
    ctx->stage = NULL;
    stage_leave(ctx, NULL);
    ctx->caller = pthread_self();
    ctx->last_asked = 0;
    return DDSC_OK;
}

ddsc_status ctx_enter_new(ddsc_context *ctx, void *out)
{
    void *none = NULL;
    if (out)
        memcpy(out, &none, sizeof none);
    CHECK(ctx_enter(ctx));
    return out ? DDSC_OK : ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "the pointer for the result is NULL");
}

ddsc_status ctx_fail(ddsc_context *ctx, ddsc_status status, const char *format, ...)
{
    int empty = 0;
    if (!atomic_compare_exchange_strong(&ctx->message_state, &empty, 1))
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    va_end(arguments);
    atomic_store(&ctx->message_state, 2);
    return status;
}

void ctx_note(ddsc_context *ctx, const char *stage, const char *path, const char *why, ...)
{
    va_list arguments;
    for (int k = 0; k < ctx->n_notes; k++)
        if (strcmp(ctx->note[k].stage, stage) == 0 && strcmp(ctx->note[k].path, path) == 0)
            return;
    if (ctx->n_notes == CTX_NOTES)
        return;
    ctx_note_entry *note = &ctx->note[ctx->n_notes++];
    note->stage = stage;
    note->path = path;
    va_start(arguments, why);
    vsnprintf(note->why, sizeof note->why, why, arguments);
    va_end(arguments);
}

int ddsc_context_get_note(const ddsc_context *context, int64_t number, const char **stage,
                          const char **path, const char **why)
{
    bool there = context && number >= 0 && number < context->n_notes;
    const ctx_note_entry *note = there ? &context->note[number] : NULL;
    if (stage)
        *stage = there ? note->stage : "";
    if (path)
        *path = there ? note->path : "";
    if (why)
        *why = there ? note->why : "";
    return there;
}

void ctx_warn(ddsc_context *ctx, const char *format, ...)
{
    char text[CTX_MESSAGE_SIZE];
    va_list arguments;
    if (!ctx->set.warning)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ctx->set.warning(ctx->set.warning_user, text);
}

void ctx_detail(ddsc_context *ctx, const char *name, double value)
{
    int64_t at = 0;
    while (at < ctx->n_details && strcmp(ctx->detail[at].name, name) != 0)
        at++;
    if (at == CTX_DETAILS)
        return;
    ctx->detail[at] = (ddsc_detail){name, value};
    ctx->n_details = BASE_MAX(ctx->n_details, at + 1);
}

ddsc_status ctx_need(ddsc_context *ctx, const void *pointer, const char *name)
{
    return pointer ? DDSC_OK : ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s is NULL", name);
}

ddsc_status ctx_check(ddsc_context *ctx, bool good, const char *field, double value,
                      const char *rule)
{
    if (good)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s = %.15g: must be %s", field, value, rule);
}

void ctx_reword(ddsc_context *ctx, const char *from, const char *to)
{
    char rest[CTX_MESSAGE_SIZE];
    char *at = strstr(ctx->message, from);
    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    snprintf(at, sizeof ctx->message - (size_t)(at - ctx->message), "%s%s", to, rest);
}

ddsc_status ctx_check_flags(ddsc_context *ctx, const char *who, unsigned flags, unsigned known)
{
    if ((flags & ~known) == 0)
        return DDSC_OK;
    return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "%s: flags = %#x contains unknown flags %#x", who,
                    flags, flags & ~known);
}

/* Minimum interval between calls of the user's callback, in seconds. Long solves call ctx_canceled
 * much more often. */
static const double ASK_EVERY = 0.02;

bool ctx_canceled(ddsc_context *ctx)
{
    if (ctx->set.cancel && pthread_equal(ctx->caller, pthread_self())) {
        double now = clock_seconds();
        if (now - ctx->last_asked >= ASK_EVERY) {
            ctx->last_asked = now;
            if (ctx->set.cancel(ctx->set.cancel_user))
                atomic_store(&ctx->canceled, 1);
        }
    }
    return atomic_load_explicit(&ctx->canceled, memory_order_relaxed) != 0;
}

ddsc_encoding ctx_encoding(const ddsc_context *ctx)
{
    return ctx->set.encoding;
}

double ctx_read_timeout(const ddsc_context *ctx)
{
    return ctx->set.read_timeout_s;
}

void ctx_detach(ddsc_context *ctx)
{
    ctx->set.progress = NULL;
    ctx->set.cancel = NULL;
    ctx->set.warning = NULL;
}

const char *ctx_take_message(ddsc_context *ctx)
{
    bool there = atomic_exchange(&ctx->message_state, 0) == 2;
    return there ? ctx->message : "";
}

uint64_t ctx_seed(const ddsc_context *ctx)
{
    return ctx->set.seed;
}

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- progress ---- */

void progress_begin(ddsc_context *ctx, const char *stage, int64_t total)
{
    const char *before = stage_enter(ctx, stage);
    ctx->before_progress = ctx->stage ? ctx->before_progress : before;
    ctx->stage = stage;
    ctx->total = total;
    atomic_store(&ctx->done, 0);
    ctx->last_report = 0;
    if (ctx->set.progress)
        ctx->set.progress(ctx->set.progress_user, stage, 0, total);
}

void progress_add(ddsc_context *ctx, int64_t units)
{
    if (ctx->team_scale > 0)
        units = (int64_t)((double)units * ctx->team_scale);
    atomic_fetch_add_explicit(&ctx->done, units, memory_order_relaxed);
}

ddsc_status progress_poll(ddsc_context *ctx)
{
    if (ctx->set.cancel && ctx->set.cancel(ctx->set.cancel_user))
        atomic_store(&ctx->canceled, 1);
    if (ctx_canceled(ctx))
        return ctx_fail(ctx, DDSC_ERROR_CANCELED, "stopped on request");
    if (!ctx->set.progress || !ctx->stage)
        return DDSC_OK;
    double now = clock_seconds();
    if (now - ctx->last_report >= 0.1) {
        ctx->last_report = now;
        int64_t done = atomic_load(&ctx->done); /* estimated for other ranks */
        ctx->set.progress(ctx->set.progress_user, ctx->stage,
                          ctx->total > 0 ? BASE_MIN(done, ctx->total) : done, ctx->total);
    }
    return DDSC_OK;
}

void progress_end(ddsc_context *ctx)
{
    if (ctx->set.progress && ctx->stage)
        ctx->set.progress(ctx->set.progress_user, ctx->stage, ctx->total, ctx->total);
    if (ctx->stage)
        stage_leave(ctx, ctx->before_progress);
    ctx->stage = NULL;
}
