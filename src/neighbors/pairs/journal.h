/* journal: files from which an interrupted run over pairs can be resumed. A journal is a folder
 * with a manifest, which describes the computation, and chunks of records, with one record per
 * tile.
 *
 * Several processes may use one folder. Each process reads the existing chunks when it starts, and
 * adds chunks with unique names. Every file has a checksum and is written to a temporary file,
 * synced and renamed. An invalid chunk is ignored, and its pairs are solved again. */
#ifndef DDSC_NEIGHBORS_PAIRS_JOURNAL_H
#define DDSC_NEIGHBORS_PAIRS_JOURNAL_H

#include "neighbors/pairs/tiles.h"

typedef struct journal journal;

/* Opens or creates the journal. `manifest` consists of lines of text that must be identical in all
 * runs that use the folder. A folder with a different manifest is rejected. */
ddsc_status journal_open(ddsc_context *ctx, journal **out, const char *folder, const char *manifest,
                         int n_workers);
/* Writes the remaining records and frees the journal. */
ddsc_status journal_close(journal *j);
/* Reads the n stored values of a tile and the statistics of their computation. Returns false if no
 * values are stored. A record is identified only by the four numbers of its tile, so other data can
 * be stored under numbers that do not form a valid tile. */
bool journal_find(journal *j, const pair_tile *tile, int64_t n, double *values,
                  ddsc_pair_stats *took, int worker);
ddsc_status journal_keep(journal *j, const pair_tile *tile, int64_t n, const double *values,
                         const ddsc_pair_stats *took, int worker);

#endif
