/* Public calls that create or configure a context, and a team for the other calls. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "public_calls.h"

static ddsc_status context_create(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_context *out = calls_unset;
    ddsc_status status = ddsc_context_create(&out, &ctx->set);
    if (calls_gives(status, out))
        ddsc_context_destroy(out);
    else
        ctx_fail(ctx, status, "out of memory"); /* there is no context to hold the text */
    return status;
}

static ddsc_status context_set_resume(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_status status = ddsc_context_set_resume(ctx, "folder", "settings");
    if (status >= 0)
        assert_int_equal(ddsc_context_set_resume(ctx, NULL, NULL), DDSC_OK);
    return status;
}

static ddsc_status context_set_device(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_context_set_device(ctx, "cpu");
}

static ddsc_status context_set_team(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_context_set_team(ctx, NULL);
}

/* ---- the first of two ranks; the other is on the same machine and accepts everything ---- */

static int no_exchange(void *state, const void *send, const int64_t *send_bytes, void *receive,
                       const int64_t *receive_bytes)
{
    (void)state, (void)send, (void)send_bytes, (void)receive, (void)receive_bytes;
    return 0;
}

static int no_gather(void *state, void *data, const int64_t *bytes)
{
    (void)state;
    memset((char *)data + bytes[0], 0, (size_t)bytes[1]);
    return 0;
}

static int no_scan(void *state, int64_t *value)
{
    (void)state;
    *value = 0;
    return 0;
}

static int no_agree(void *state, double *value, int64_t n)
{
    (void)state, (void)value, (void)n;
    return 0;
}

static int share_here(void *state, void **block, int64_t bytes, int *first)
{
    (void)state;
    *first = 1;
    *block = calloc(1, (size_t)bytes);
    return *block == NULL;
}

static int ready_here(void *state)
{
    (void)state;
    return 0;
}

static void unshare_here(void *state, void *block)
{
    (void)state;
    free(block);
}

void calls_set_team(ddsc_context *ctx, bool on)
{
    static const ddsc_team two = {.size = 2,
                                  .exchange = no_exchange,
                                  .gather = no_gather,
                                  .scan = no_scan,
                                  .agree = no_agree,
                                  .share = share_here,
                                  .ready = ready_here,
                                  .unshare = unshare_here};
    ctx->team = on ? two : (ddsc_team){0};
}

ddsc_status calls_read(void *user, ddsc_context *ctx, ddsc_measures **out)
{
    return ddsc_measures_read(ctx, out, *(const char *const *)user, NULL);
}

static const call_entry entries[] = {
    E(context_create, "", 0),
    E(context_set_resume, "", 0),
    E(context_set_device, "", 0),
    E(context_set_team, "", 0),
};
const call_table context_calls = CALL_TABLE(entries);
