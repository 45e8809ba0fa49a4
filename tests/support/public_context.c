/* Public calls that make a context or set it up. */
#include "base/context.h"
#include "public_calls.h"

ddsc_status context_create(ddsc_context *ctx, int option)
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

ddsc_status context_set_resume(ddsc_context *ctx, int option)
{
    (void)option;
    ddsc_status status = ddsc_context_set_resume(ctx, "folder", "settings");
    if (status >= 0)
        assert_int_equal(ddsc_context_set_resume(ctx, NULL, NULL), DDSC_OK);
    return status;
}

ddsc_status context_set_device(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_context_set_device(ctx, "cpu");
}

ddsc_status context_set_team(ddsc_context *ctx, int option)
{
    (void)option;
    return ddsc_context_set_team(ctx, NULL);
}
