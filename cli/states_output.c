/* Writes the result of `ddsc states` as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "states.h"

enum { MOST_SHIFTS = 20, MOST_MOVES = 20, WIDTH_LEAST = 40, WIDTH_MOST = 90 };
static const double LEAST_MOVE = 0.001;

static const char *name_of(const states_result *r, int64_t state)
{
    return ddsc_states_get_name(r->states, state);
}

/* Returns the width of the column with the names of the states. */
static int width_of(const states_result *r)
{
    size_t width = WIDTH_LEAST;
    for (int64_t s = 0; s < r->v.n_states; s++)
        width = strlen(name_of(r, s)) > width ? strlen(name_of(r, s)) : width;
    return width < WIDTH_MOST ? (int)width : WIDTH_MOST;
}

/* Computes the mean share of each state in a cluster. Returns its number of items. */
static int64_t cluster_shares(const states_result *r, int64_t cluster, double *share)
{
    int64_t n = 0, k = r->v.n_states;
    for (int64_t c = 0; c < k; c++)
        share[c] = 0;
    for (int64_t i = 0; i < r->v.n_items; i++)
        n += r->items->view.labels[i] == cluster;
    for (int64_t i = 0; i < r->v.n_items; i++)
        for (int64_t c = 0; r->items->view.labels[i] == cluster && c < k; c++)
            share[c] += r->v.share[i * k + c] / (double)n;
    return n;
}

/* A row of the output of --by or of a flow, for sorting. */
typedef struct ranked {
    double key, second;
    int64_t at;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    if (x->second < y->second || x->second > y->second)
        return x->second > y->second ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Sorts the rows by p, and rows with equal p by the size of the effect. */
static ranked *sort_effects(const ddsc_effects_view *v)
{
    ranked *order = cli_allocate((size_t)v->n_rows + 1, sizeof *order);
    for (int64_t k = 0; k < v->n_rows; k++) {
        double effect = fabs(v->rows[k]->effect);
        order[k] = (ranked){v->rows[k]->p, isnan(effect) ? -1 : effect, k};
    }
    qsort(order, (size_t)v->n_rows, sizeof *order, by_key);
    return order;
}

/* Sorts the moves between states by mass. Moves within a state are omitted. */
static ranked *sort_moves(const states_result *r, int64_t *n)
{
    int64_t k = r->v.n_states;
    ranked *order = cli_allocate((size_t)(k * k) + 1, sizeof *order);
    *n = 0;
    for (int64_t at = 0; at < k * k; at++)
        if (at / k != at % k && r->flow.mass[at] >= LEAST_MOVE)
            order[(*n)++] = (ranked){-r->flow.mass[at], 0, at};
    qsort(order, (size_t)*n, sizeof *order, by_key);
    return order;
}

static ranked *sort_shifts(const states_result *r, int64_t *n)
{
    int64_t width = r->v.n_states * r->v.dim;
    ranked *order = cli_allocate((size_t)width + 1, sizeof *order);
    *n = 0;
    for (int64_t at = 0; at < width; at++)
        if (!isnan(r->flow.shift[at]))
            order[(*n)++] = (ranked){-fabs(r->flow.shift[at]), 0, at};
    qsort(order, (size_t)*n, sizeof *order, by_key);
    return order;
}

/* ---- as text ---- */

static void add_rule(text *t, const states_result *r)
{
    const ddsc_states_view *v = &r->v;
    text_addf(t, "%" PRId64 " states of the points: ", v->n_states);
    if (v->given) {
        text_add(t, "the types of the points in the input\n");
        return;
    }
    text_add(t, "k-means clusters of a sample of ");
    text_add_count(t, v->n_sampled);
    text_add(t, " points\n");
    for (int64_t a = 0; a < v->n_tried; a++)
        text_addf(t, "%s%" PRId64 ": %.2f",
                  a ? ", " : "  agreement of halves by number: ", v->tried[a], v->agreement[a]);
    text_add(t, v->n_tried ? "\n" : "");
}

static void add_shares(text *t, const states_result *r)
{
    int64_t k = r->v.n_states, shown = r->items->view.k < 8 ? r->items->view.k : 8;
    double *share = cli_allocate((size_t)(k * (shown + 1)), sizeof *share);
    int width = width_of(r);
    text_addf(t, "\n%-*s %8s", width, "share of each state", "all");
    for (int64_t c = 0; c < shown; c++) {
        text_addf(t, " %7s%" PRId64, "", c);
        cluster_shares(r, c, share + c * k);
    }
    text_add(t, "\n");
    for (int64_t s = 0; s < k; s++) {
        text_addf(t, "%-*s %7.1f%%", width, name_of(r, s), 100 * r->v.total[s]);
        for (int64_t c = 0; c < shown; c++)
            text_addf(t, " %7.1f%%", 100 * share[c * k + s]);
        text_add(t, "\n");
    }
    if (shown < r->items->view.k)
        text_addf(t, "(the first %" PRId64 " of %" PRId64 " clusters; --json lists all)\n", shown,
                  r->items->view.k);
    text_add(t, "The shares of the clusters are descriptive, because the clusters were computed "
                "from these points.\n");
    free(share);
}

static void add_scheme(text *t, const ddsc_effects_view *v, const ddsc_column *block)
{
    text_addf(t, "p: %" PRId64 " %s%s%s", v->n_permutations,
              v->exhaustive ? "arrangements (all)" : "random permutations",
              block ? (v->whole_blocks ? " of whole blocks of " : " within ") : "",
              block ? block->name : "");
    text_addf(t, "; the smallest possible p is %.3g\n", v->smallest_p);
}

static void add_effect(text *t, const ddsc_effect *e, double unit, const char *name, int width)
{
    char classes[200];
    snprintf(classes, sizeof classes, "%.60s%s%.60s", e->level ? e->level : "",
             e->level ? " - " : "", e->level ? (e->other ? e->other : "others") : "");
    text_addf(t, "%-*s %-24s %+8.3g  %+8.3g to %+8.3g  %8.3g %8.3g\n", width, name, classes,
              unit * e->effect, unit * e->low, unit * e->high, e->p, e->p_adjusted);
}

static void add_head(text *t, const char *what, int width)
{
    text_addf(t, "%-*s %-24s %8s  %20s  %8s %8s\n", width, what, "", "effect", "95% interval", "p",
              "p BH");
}

static void add_column(text *t, const states_result *r, int64_t at)
{
    const states_column *c = &r->by[at];
    const ddsc_column *block = NULL;
    bool number = c->share.kind == DDSC_COLUMN_NUMBER;
    int width = width_of(r);
    for (int64_t k = 0; k < r->columns.n; k++)
        if (r->columns.column[k].role == DDSC_COLUMN_BLOCK)
            block = &r->columns.column[k];
    text_addf(t, "\nby %s", r->of[at]->name);
    for (int64_t k = 0, n = 0; k < r->columns.n; k++)
        if (r->columns.column[k].role == DDSC_COLUMN_ADJUST)
            text_addf(t, "%s%s", n++ ? ", " : ", adjusted for ", r->columns.column[k].name);
    text_add(t, "\n");
    add_head(t, number ? "share (rank correlation)" : "share (difference in percentage points)",
             width);
    for (int64_t k = 0; k < c->share.n_rows; k++)
        add_effect(t, c->share.rows[k], number ? 1 : 100, name_of(r, c->share.rows[k]->variable),
                   width);
    text_add(t, "\n");
    add_head(t,
             number ? "within states (rank correlation)"
                    : "within states (difference in SD of the state)",
             width);
    ranked *order = sort_effects(&c->shift);
    for (int64_t k = 0; k < c->shift.n_rows && k < MOST_SHIFTS; k++) {
        const ddsc_effect *e = c->shift.rows[order[k].at];
        char name[2 * WIDTH_MOST], space[40];
        snprintf(name, sizeof name, "%.60s in %.60s",
                 states_coordinate(r, e->variable % r->v.dim, space),
                 name_of(r, e->variable / r->v.dim));
        add_effect(t, e, 1, name, width);
    }
    if (c->shift.n_rows > MOST_SHIFTS)
        text_addf(t, "(the %d smallest p of %" PRId64 "; --json lists all)\n", MOST_SHIFTS,
                  c->shift.n_rows);
    add_scheme(t, &c->share, block);
    free(order);
}

static void add_flow(text *t, const states_result *r)
{
    int64_t k = r->v.n_states, n;
    double stays = 0;
    char space[40];
    for (int64_t s = 0; s < k; s++)
        stays += r->flow.mass[s * k + s];
    text_addf(t, "\ntransport from %s to %s: W2 %.4g", r->side[0].name, r->side[1].name,
              sqrt(fmax(r->flow.value, 0)));
    text_addf(t, " (%" PRId64 " and %" PRId64 " points); %.1f%% of the mass stays in its state\n",
              r->flow.n_from, r->flow.n_to, 100 * stays);
    ranked *order = sort_moves(r, &n);
    for (int64_t m = 0; m < n && m < MOST_MOVES; m++)
        text_addf(t, "  %5.1f%%  %s -> %s\n", -100 * order[m].key, name_of(r, order[m].at / k),
                  name_of(r, order[m].at % k));
    free(order);
    order = sort_shifts(r, &n);
    text_add(t, n ? "change within states, in standard deviations of the state\n" : "");
    for (int64_t m = 0; m < n && m < MOST_SHIFTS; m++)
        text_addf(t, "  %+6.2f  %s in %s\n", r->flow.shift[order[m].at],
                  states_coordinate(r, order[m].at % r->v.dim, space),
                  name_of(r, order[m].at / r->v.dim));
    free(order);
}

void states_to_text(text *t, const states_result *r)
{
    add_rule(t, r);
    add_shares(t, r);
    for (int64_t c = 0; c < r->n_by; c++)
        add_column(t, r, c);
    if (r->compared)
        add_flow(t, r);
}

/* ---- as JSON ---- */

static json_t *numbers(const double *x, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++)
        json_add(list, isfinite(x[k]) ? json_real(x[k]) : json_null());
    return list;
}

static void put_states(json_t *root, const states_result *r)
{
    int64_t k = r->v.n_states, d = r->v.dim;
    json_put_bool(root, "given", r->v.given);
    json_put_count(root, "sampled", r->v.n_sampled);
    json_t *list = json_put_array(root, "tried");
    for (int64_t a = 0; a < r->v.n_tried; a++) {
        json_t *row = json_object();
        json_put_count(row, "n", r->v.tried[a]);
        json_put_real(row, "agreement", r->v.agreement[a]);
        json_add(list, row);
    }
    list = json_put_array(root, "coordinates");
    for (int64_t a = 0; a < d; a++) {
        char space[40];
        json_add(list, json_from_text(states_coordinate(r, a, space)));
    }
    list = json_put_array(root, "states");
    for (int64_t s = 0; s < k; s++) {
        json_t *row = json_object();
        json_put_text(row, "name", name_of(r, s));
        json_put_real(row, "share", r->v.total[s]);
        json_put(row, "mean", numbers(r->v.mean + s * d, d));
        json_put(row, "deviation", numbers(r->v.deviation + s * d, d));
        json_add(list, row);
    }
}

static void put_shares(json_t *root, const states_result *r)
{
    int64_t k = r->v.n_states;
    double *share = cli_allocate((size_t)k, sizeof *share);
    json_t *list = json_put_array(root, "clusters");
    for (int64_t c = 0; c < r->items->view.k; c++) {
        json_t *row = json_object();
        json_put_count(row, "label", c);
        json_put_count(row, "items", cluster_shares(r, c, share));
        json_put(row, "shares", numbers(share, k));
        json_add(list, row);
    }
    json_put_text(root, "clusters_note",
                  "descriptive only, because the clusters were computed from these points");
    list = json_put_array(root, "items");
    for (int64_t i = 0; i < r->v.n_items; i++) {
        json_t *row = json_object();
        json_put_text(row, "id", result_items_id(r->items, i));
        json_put(row, "shares", numbers(r->v.share + i * k, k));
        json_add(list, row);
    }
    free(share);
}

static json_t *effect_json(const states_result *r, const ddsc_effect *e, bool within)
{
    char space[40];
    json_t *row = json_object();
    json_put_text(row, "state", name_of(r, within ? e->variable / r->v.dim : e->variable));
    if (within)
        json_put_text(row, "coordinate", states_coordinate(r, e->variable % r->v.dim, space));
    if (e->level)
        json_put_text(row, "class", e->level);
    if (e->other)
        json_put_text(row, "other", e->other);
    json_put_count(row, "n", e->n);
    json_put_real(row, "mean", e->mean_level);
    json_put_real(row, "mean_other", e->mean_other);
    json_put_real(row, "effect", e->effect);
    json_put_real(row, "low", e->low);
    json_put_real(row, "high", e->high);
    json_put_real(row, "standardized", e->standardized);
    json_put_real(row, "p", e->p);
    json_put_real(row, "p_bh", e->p_adjusted);
    return row;
}

static json_t *effects_json(const states_result *r, const ddsc_effects_view *v, bool within)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < v->n_rows; k++)
        json_add(list, effect_json(r, v->rows[k], within));
    return list;
}

static json_t *column_json(const states_result *r, int64_t at)
{
    const states_column *c = &r->by[at];
    bool number = c->share.kind == DDSC_COLUMN_NUMBER;
    json_t *row = json_object();
    json_put_text(row, "column", r->of[at]->name);
    json_put_text(row, "kind", number ? "number" : "factor");
    json_put_text(row, "effect", number ? "rank correlation" : "difference");
    json_t *adjust = json_put_array(row, "adjust");
    for (int64_t k = 0; k < r->columns.n; k++)
        if (r->columns.column[k].role == DDSC_COLUMN_ADJUST)
            json_add(adjust, json_from_text(r->columns.column[k].name));
    json_put_count(row, "permutations", c->share.n_permutations);
    json_put_bool(row, "exhaustive", c->share.exhaustive);
    json_put_bool(row, "whole_blocks", c->share.whole_blocks);
    json_put_real(row, "smallest_p", c->share.smallest_p);
    json_put(row, "shares", effects_json(r, &c->share, false));
    json_put(row, "within", effects_json(r, &c->shift, true));
    return row;
}

static void put_flow(json_t *root, const states_result *r)
{
    int64_t k = r->v.n_states;
    json_t *flow = json_put_object(root, "transport");
    json_put_text(flow, "from", r->side[0].name);
    json_put_text(flow, "to", r->side[1].name);
    json_put_real(flow, "w2", sqrt(fmax(r->flow.value, 0)));
    json_put_count(flow, "points_from", r->flow.n_from);
    json_put_count(flow, "points_to", r->flow.n_to);
    json_put(flow, "shares_from", numbers(r->flow.from, k));
    json_put(flow, "shares_to", numbers(r->flow.to, k));
    json_t *mass = json_put_array(flow, "mass"), *shift = json_put_array(flow, "shift");
    for (int64_t s = 0; s < k; s++) {
        json_add(mass, numbers(r->flow.mass + s * k, k));
        json_add(shift, numbers(r->flow.shift + s * r->v.dim, r->v.dim));
    }
}

json_t *states_to_json(const states_result *r)
{
    json_t *root = json_object();
    put_states(root, r);
    put_shares(root, r);
    json_t *by = r->n_by > 0 ? json_put_array(root, "by") : NULL;
    for (int64_t c = 0; c < r->n_by; c++)
        json_add(by, column_json(r, c));
    if (r->compared)
        put_flow(root, r);
    return root;
}
