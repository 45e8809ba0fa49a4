/* Reads the order of the items from a result, reverses it if requested, and computes it from halves
 * of the points. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "order.h"

/* ---- items.csv ---- */

/* Reads one field of a csv row, which may be quoted, into t, and advances *at past the separator.
 * Returns false at the end of the row. */
static bool read_field(text *t, const char **at)
{
    const char *c = *at;
    bool quoted = *c == '"';
    t->length = 0;
    text_add(t, "");
    for (c += quoted; *c && (quoted || (*c != ',' && *c != '\n' && *c != '\r')); c++) {
        if (quoted && *c == '"' && c[1] != '"') {
            quoted = false;
            continue;
        }
        c += quoted && *c == '"';
        text_add_bytes(t, c, 1);
    }
    bool more = *c == ',';
    *at = more ? c + 1 : c;
    return more;
}

static const char *next_row(const char *at)
{
    while (*at == '\r')
        at++;
    return *at == '\n' ? at + 1 : at;
}

/* Sets the ranks of the items from the column `order`. The rows of the table are in the order of
 * the items. Returns the number of items that were found. */
static int64_t take_ranks(order_result *r, const result_items *items, const char *at)
{
    text field = {0};
    int64_t column = -1, found = 0;
    bool more = true;
    for (int64_t k = 0; more; k++) {
        more = read_field(&field, &at);
        if (strcmp(text_get(&field), "order") == 0)
            column = k;
    }
    for (at = next_row(at); column >= 0 && *at && found < r->n; at = next_row(at)) {
        bool mine = false;
        more = true;
        for (int64_t k = 0; more; k++) {
            more = read_field(&field, &at);
            if (k == 0)
                mine = strcmp(text_get(&field), result_items_id(items, found)) == 0;
            if (k == column && mine && field.length > 0)
                r->rank[found] = strtoll(text_get(&field), NULL, 10);
        }
        found += mine;
    }
    text_free(&field);
    return column < 0 ? -1 : found;
}

/* Lists the items in order, and renumbers the ranks without gaps. */
static void list_items(order_result *r)
{
    double *key = cli_allocate((size_t)r->n + 1, sizeof *key);
    int64_t n = 0;
    r->item = cli_allocate((size_t)r->n + 1, sizeof *r->item);
    for (int64_t i = 0; i < r->n; i++)
        if (r->rank[i] >= 0)
            key[n++] = (double)r->rank[i];
    order_ranks(key, n);
    r->n_ordered = n;
    n = 0;
    for (int64_t i = 0; i < r->n; i++)
        if (r->rank[i] >= 0) {
            r->rank[i] = (int64_t)key[n++];
            r->item[r->rank[i]] = i;
        }
    free(key);
}

bool order_read(session *s, const result_items *items, order_result *r, int *code)
{
    char *path = output_path(s->opt.operand[0], "items.csv");
    text table = {0};
    *r = (order_result){.n = items->in.view.n_items};
    r->rank = cli_allocate((size_t)r->n + 1, sizeof *r->rank);
    for (int64_t i = 0; i < r->n; i++)
        r->rank[i] = -1;
    int64_t found = text_add_file(&table, path) ? take_ranks(r, items, text_get(&table)) : -2;
    bool good = found == r->n;
    if (good) {
        list_items(r);
        good = r->n_ordered >= 3;
        found = -1;
    }
    if (!good) {
        message_error("%s %s", path,
                      found == -2   ? "cannot be read"
                      : found == -1 ? "contains no order of the items: the graph has too few "
                                      "eigenvectors or too many components"
                                    : "does not contain the items of model.npz; use an unchanged "
                                      "folder of 'ddsc cluster'");
        *code = EXIT_INPUT;
    }
    text_free(&table);
    free(path);
    return good;
}

static void reverse(order_result *r)
{
    for (int64_t i = 0; i < r->n; i++)
        if (r->rank[i] >= 0) {
            r->rank[i] = r->n_ordered - 1 - r->rank[i];
            r->item[r->rank[i]] = i;
        }
}

bool order_turn(session *s, result_items *items, order_result *r, int *code)
{
    const char *start = s->opt.start, *equals = start ? strchr(start, '=') : NULL;
    double sum = 0, n = 0;
    if (!start)
        return true;
    for (int64_t i = 0; i < r->n; i++)
        if (r->rank[i] >= 0 && strcmp(result_items_id(items, i), start) == 0) {
            sum += (double)r->rank[i];
            n++;
        }
    if (n < 1 && equals) {
        char *name = cli_allocate((size_t)(equals - start) + 1, 1);
        memcpy(name, start, (size_t)(equals - start));
        const char *const *value = result_items_column(s, items, name, code);
        free(name);
        if (!value)
            return false;
        for (int64_t i = 0; i < r->n; i++)
            if (r->rank[i] >= 0 && strcmp(value[i], equals + 1) == 0) {
                sum += (double)r->rank[i];
                n++;
            }
    }
    if (n < 1) {
        *code = message_usage(s->verb,
                              "--start: '%s' is neither the id of an item with a rank nor "
                              "COLUMN=VALUE of such an item",
                              start);
        return false;
    }
    if (2 * sum > n * (double)(r->n_ordered - 1))
        reverse(r);
    return true;
}

/* ---- halves ---- */

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* One half of the points of every item. If an item has a single point, both halves contain it. */
static ddsc_status make_half(const session *s, ddsc_context *ctx, ddsc_measures **out,
                             const ddsc_measures_view *v, int side)
{
    double *points = cli_allocate((size_t)(v->n_entries * v->dim) + 1, sizeof *points);
    double *weights = cli_allocate((size_t)v->n_entries + 1, sizeof *weights);
    int64_t *offset = cli_allocate((size_t)v->n_items + 1, sizeof *offset), used = 0;
    int64_t *order = cli_allocate((size_t)v->n_entries + 1, sizeof *order);
    for (int64_t i = 0; i < v->n_items; i++) {
        int64_t n = v->offset[i + 1] - v->offset[i];
        uint64_t state = mix(mix((uint64_t)s->opt.seed) ^ mix((uint64_t)i));
        for (int64_t k = 0; k < n; k++)
            order[k] = v->offset[i] + k;
        for (int64_t k = n - 1; k > 0; k--) {
            state = mix(state);
            int64_t j = (int64_t)(state % (uint64_t)(k + 1)), kept = order[k];
            order[k] = order[j];
            order[j] = kept;
        }
        int64_t begin = side ? n / 2 : 0, end = side || n == 1 ? n : n / 2;
        for (int64_t k = begin; k < end; k++, used++) {
            memcpy(points + used * v->dim, v->support + (int64_t)v->index[order[k]] * v->dim,
                   (size_t)v->dim * sizeof *points);
            weights[used] = v->weight[order[k]];
        }
        offset[i + 1] = used;
    }
    ddsc_status status = ddsc_measures_create_clouds(ctx, out, v->n_items, v->dim, points, weights,
                                                     offset, DDSC_EMPTY_ERROR);
    free(points);
    free(weights);
    free(offset);
    free(order);
    return status;
}

/* Computes the ranks of the items from half of their points. */
static bool rank_half(session *s, const result_items *items, int64_t *rank, int side, int *code)
{
    ddsc_measures *half = NULL;
    ddsc_clustering *found = NULL;
    ddsc_cluster_settings set;
    ddsc_graph_settings graph;
    /* The context has no warnings, because each half would repeat the warnings of the result. */
    ddsc_context *ctx = session_quiet_context(s);
    ddsc_cluster_settings_init(&set);
    ddsc_graph_settings_init(&graph);
    set.k_min = set.k_max = items->view.k;
    set.metric = items->view.metric_settings;
    set.graph = &graph;
    graph.tau = items->view.tau;
    ddsc_status status = ctx ? make_half(s, ctx, &half, &items->in.view, side) : DDSC_ERROR_MEMORY;
    if (status >= 0)
        status = ddsc_cluster_run(ctx, &found, half, &set);
    if (status >= 0)
        status = ddsc_order_run(ctx, rank, found);
    if (status < 0) {
        *code = session_interrupted()         ? EXIT_INTERRUPTED
                : status == DDSC_ERROR_MEMORY ? EXIT_MEMORY
                                              : EXIT_INTERNAL;
        message_error("computing the order from half of the points failed: %s",
                      ctx ? ddsc_context_get_message(ctx) : "out of memory");
    }
    ddsc_clustering_destroy(found);
    ddsc_measures_destroy(half);
    ddsc_context_destroy(ctx);
    return status >= 0;
}

static double compare_ranks(const int64_t *a, const int64_t *b, int64_t n)
{
    double *x = cli_allocate((size_t)n + 1, sizeof *x), *y = cli_allocate((size_t)n + 1, sizeof *y);
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (a[i] >= 0 && b[i] >= 0) {
            x[m] = (double)a[i];
            y[m++] = (double)b[i];
        }
    double rho = m >= 3 ? fabs(order_correlation(x, y, m)) : (double)NAN;
    free(x);
    free(y);
    return rho;
}

/* Reads the stability from result.json, which contains it if the verdict is a continuum. Returns
 * false if it is missing, or if --seed is given, because the seed determines the random halves. */
static bool take_stability(session *s, order_result *r)
{
    char *path = output_path(s->opt.operand[0], "result.json");
    json_t *root = option_given(&s->opt, "seed") ? NULL : json_load_file(path, 0, NULL);
    const json_t *found = json_object_get(json_object_get(root, "order"), "stability");
    r->stability = json_is_number(found) ? json_number_value(found) : (double)NAN;
    json_decref(root);
    free(path);
    return !isnan(r->stability);
}

bool order_split(session *s, const result_items *items, order_result *r, int *code)
{
    const ddsc_measures_view *v = &items->in.view;
    int64_t single = 0;
    r->stability = NAN;
    for (int64_t i = 0; i < v->n_items; i++)
        single += items->points[i] < 2;
    if (2 * single > v->n_items) {
        r->unstable_why = "most items have a single point";
        return true;
    }
    if (take_stability(s, r))
        return true;
    int64_t *rank = cli_allocate(2 * (size_t)r->n + 1, sizeof *rank);
    bool good = rank_half(s, items, rank, 0, code) && rank_half(s, items, rank + r->n, 1, code);
    if (good)
        r->stability = compare_ranks(rank, rank + r->n, r->n);
    free(rank);
    return good;
}
