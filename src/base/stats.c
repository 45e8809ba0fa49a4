/* Copies ddsc_pair_stats between the library and the caller. */
#include "base/sized.h"

SIZED_INIT(stats_struct, ddsc_pair_stats, seconds, NULL);

ddsc_status stats_check(ddsc_context *ctx, const ddsc_pair_stats *given)
{
    ddsc_pair_stats ignored;
    return sized_take(ctx, &stats_struct, &ignored, given);
}

void stats_give(ddsc_pair_stats *given, const ddsc_pair_stats *own)
{
    sized_give(&stats_struct, given, own);
}
