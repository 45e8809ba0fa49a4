/* query: best-first search for the neighbors of one item. query.c and update.c share this heap of
 * candidates, which is ordered by a lower bound. */
#ifndef DDSC_NEIGHBORS_SEARCH_QUERY_H
#define DDSC_NEIGHBORS_SEARCH_QUERY_H

#include "neighbors/search/pruning.h"
#include "neighbors/search/search.h"

typedef struct query_entry {
    double bound;
    int32_t index;
    reached reached;
} query_entry;

/* Fills a heap with the first n items (in the order in which first bounds are stored) and their
 * bounds. */
void search_candidates_make(query_entry *heap, int64_t n, const float *low,
                            const first_bounds *first, const local_scales *by);
/* Moves entry `at` down to its position after its bound has been raised or the entry has been
 * replaced. */
void search_candidates_sift(query_entry *heap, int64_t n, int64_t at);
/* Computes the next bound of the top candidate of `item`. Returns false if the candidate already
 * has the last bound that is worth computing. */
bool search_candidate_raise(pairs *p, query_entry *top, int64_t item, double limit, int worker);

#endif
