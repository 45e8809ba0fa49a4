/* Where items lie on the map: from the two widest directions of the embedding, neighbours drawn
 * together. */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

bool cluster_make_map(cluster_result *r, int *code)
{
    const ddsc_graph *graph = r->graph ? r->graph : r->view.graph;
    int64_t n = r->view.n;
    if (!r->clustering || !graph || n == 0 || r->view.n_vectors == 0)
        return true;
    double *start = cli_allocate((size_t)n, 2 * sizeof *start);
    r->map = cli_allocate((size_t)r->n_rows, 2 * sizeof *r->map);
    bool good =
        session_ok(r->s,
                   ddsc_project_run(r->s->ctx, start, n, r->view.n_vectors, r->view.embedding),
                   code) &&
        session_ok(r->s, ddsc_layout_run(r->s->ctx, r->map, graph, start), code);
    if (good && r->has_items)
        output_spread_rows(r->map, 2, &r->in.view);
    free(start);
    return good;
}
