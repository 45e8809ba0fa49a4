/* cells: data for the page about items whose points have named coordinates, such as cells with
 * markers. Only means, quantiles and shares are stored, never points. */
#ifndef DDSC_REPORT_TRAITS_CELLS_H
#define DDSC_REPORT_TRAITS_CELLS_H

#include "report/traits/traits.h"

enum {
    CELLS_LEAST_DIM = 4,
    CELLS_COORDINATES =
        200,              /* coordinates in the heat map: those that differ most between clusters */
    CELLS_DENSITIES = 24, /* coordinates with densities */
    CELLS_CLUSTERS = 100, /* in the heat map */
    CELLS_DENSITY_CLUSTERS = 12,
    CELLS_LEVELS = 25,  /* quantiles, from 1% to 99% */
    CELLS_ITEMS = 2000, /* items shown as bars, evenly spaced in their order */
    CELLS_STATES = 40,  /* types are not shown if there are more */
    CELLS_PAIRS = 11    /* maximum number of pairs of clusters with a flow diagram */
};

typedef struct cells_summary {
    ddsc_report *r;
    ddsc_states *states;
    ddsc_states_view view;
    int64_t n_clusters, *cluster;       /* clusters with items, in the order of the heat map */
    int64_t n_coordinates, *coordinate; /* coordinates, in the order of the heat map */
    double *mean;                       /* r->k x dim: standardized means */
} cells_summary;

/* Sorts the n rows listed in `order` so that similar rows are adjacent, using a nearest-neighbor
 * chain that starts at the longest row and is improved by reversing segments (2-opt). */
void traits_seriate(int64_t *order, int64_t n, const double *rows, int64_t stride, int64_t dim,
                    int64_t step);
/* Writes the quantiles of the coordinates that differ most between clusters, for each cluster. */
ddsc_status traits_put_quantiles(const cells_summary *c, json_t *root);

#endif
