/* Manages the resume folder of a context and the settings line of its run. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"

/* Creates the folder if it does not exist, and checks that it is writable. Problems are reported
 * here rather than after hours of work. */
static ddsc_status ctx_make_folder(ddsc_context *ctx, const char *folder)
{
    struct stat about;
    if (!*folder)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "the name of the resume folder is empty");
    if (strlen(folder) > PATH_MAX - 160) /* leaves space for file names */
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "the name of the resume folder is too long");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ctx_fail(ctx, DDSC_ERROR_IO, "%.240s: cannot create the folder: %s", folder,
                        strerror(errno));
    if (stat(folder, &about) != 0)
        return ctx_fail(ctx, DDSC_ERROR_IO, "%.240s: %s", folder, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return ctx_fail(ctx, DDSC_ERROR_IO,
                        "%.240s is not a folder, so a run cannot be resumed from it", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return ctx_fail(ctx, DDSC_ERROR_IO, "%.240s is not writable: %s", folder, strerror(errno));
    return DDSC_OK;
}

ddsc_status ddsc_context_set_resume(ddsc_context *ctx, const char *folder, const char *settings)
{
    ddsc_status status = DDSC_OK;
    char *own_folder = NULL, *own_settings = NULL;
    CHECK(ctx_enter(ctx));
    if (settings && strpbrk(settings, "\r\n"))
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "the settings of a run must be a single line");
    if (folder) {
        settings = settings ? settings : "";
        TRY(ctx_make_folder(ctx, folder));
        TRY(MEM_COPY(ctx, own_folder, folder, strlen(folder) + 1));
        TRY(MEM_COPY(ctx, own_settings, settings, strlen(settings) + 1));
    }
    MEM_FREE(ctx, ctx->resume_folder, ctx->resume_settings);
    ctx->resume_folder = own_folder;
    ctx->resume_settings = own_settings;
    if (folder)
        atomic_store(&ctx->resumed, 0);
    own_folder = own_settings = NULL;
done:
    MEM_FREE(ctx, own_folder, own_settings);
    return status;
}

int64_t ddsc_context_get_resumed(const ddsc_context *context)
{
    return context ? atomic_load(&((ddsc_context *)(uintptr_t)context)->resumed) : 0;
}

const char *ctx_resume_folder(const ddsc_context *ctx)
{
    return ctx->resume_paused ? NULL : ctx->resume_folder;
}

void ctx_resume_pause(ddsc_context *ctx, bool pause)
{
    ctx->resume_paused = pause;
}

const char *ctx_resume_settings(const ddsc_context *ctx)
{
    return ctx->resume_settings;
}

void ctx_resume_count(ddsc_context *ctx, int64_t n_pairs)
{
    atomic_fetch_add_explicit(&ctx->resumed, n_pairs, memory_order_relaxed);
}
