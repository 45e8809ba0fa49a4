/* What a run over pairs leaves on disk so that another can take it up: a folder with a manifest
 * that says what is computed, and chunks of records, one per tile. Several processes may keep their
 * records in one folder: each reads what is there when it begins and adds chunks under names of its own. Every file appears whole (written
 * beside, synced, renamed) and carries a checksum; a chunk that does not fit is left aside, and its
 * pairs are solved again. */
#ifndef DDSC_NEIGHBORS_PAIRS_JOURNAL_H
#define DDSC_NEIGHBORS_PAIRS_JOURNAL_H

#include "neighbors/pairs/tiles.h"

typedef struct journal journal;

/* Lines of text that must be the same in both runs. Refuses a folder with another manifest. */
ddsc_status journal_open(ddsc_context *ctx, journal **out, const char *folder, const char *manifest,
                         int n_workers);
/* Write what is still in memory and free. */
ddsc_status journal_close(journal *j);
/* The n values kept for a tile, and what it took; false when there are none. Only the four numbers
 * of the tile count: other things than values of pairs are kept under tiles that do not occur. */
bool journal_find(journal *j, const pair_tile *tile, int64_t n, double *values,
                  ddsc_pair_stats *took, int worker);
ddsc_status journal_keep(journal *j, const pair_tile *tile, int64_t n, const double *values,
                         const ddsc_pair_stats *took, int worker);

#endif
