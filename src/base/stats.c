/* ddsc_pair_stats between library and caller. */
#include "base/sized.h"

static const sized_struct stats_struct = SIZED_STRUCT(ddsc_pair_stats, seconds, NULL);

void ddsc_pair_stats_init_sized(ddsc_pair_stats *stats, size_t size)
{
    sized_init(&stats_struct, stats, size);
}

ddsc_status stats_check(ddsc_context *ctx, const ddsc_pair_stats *given)
{
    ddsc_pair_stats ignored;
    return sized_take(ctx, &stats_struct, &ignored, given);
}

void stats_give(ddsc_pair_stats *given, const ddsc_pair_stats *own)
{
    sized_give(&stats_struct, given, own);
}
