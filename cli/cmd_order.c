/* ddsc order: describes the items of a result along its main direction. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "order.h"

enum { ORDER_SHOWN = 10, ORDER_CURVES = 20 };
/* An order is stable if the rank correlation between the orders from two halves is at least this
 * value. */
static const double ORDER_STABLE = 0.8;
/* One direction is sufficient if the variation along the next direction is at most this fraction of
 * the variation along the main one. */
static const double ORDER_NEXT = 0.5;
static const double ORDER_LEVEL = 0.05;

static bool is_stable(const order_result *r)
{
    return r->stability >= ORDER_STABLE;
}

static bool suffices(const order_result *r)
{
    return r->next_share <= ORDER_NEXT * r->main_share;
}

static const char *id_at(const result_items *items, const order_result *r, int64_t place)
{
    return result_items_id(items, r->item[place]);
}

/* ---- as JSON ---- */

static json_t *trait_json(const order_trait *t, bool curve)
{
    json_t *row = json_object();
    json_put_text(row, "name", t->name);
    json_put_real(row, "rho", t->rho);
    if (!curve)
        return row;
    json_t *mean = json_put_array(row, "curve"), *low = json_put_array(row, "low"),
           *high = json_put_array(row, "high");
    for (int c = 0; c < ORDER_CURVE; c++) {
        json_add(mean, json_real(t->curve[c]));
        json_add(low, json_real(t->curve[c] - t->half[c]));
        json_add(high, json_real(t->curve[c] + t->half[c]));
    }
    return row;
}

static json_t *column_json(const order_column *c)
{
    json_t *row = json_object();
    json_put_text(row, "column", c->name);
    json_put_text(row, "kind", c->number ? "number" : "factor");
    json_put_real(row, "rho", c->rho);
    json_put_real(row, "eta_squared", c->r2);
    json_put_real(row, "p", c->p);
    json_put_real(row, "p_holm", c->p_holm);
    json_put_count(row, "items", c->n);
    return row;
}

/* Returns true if the order describes the result better than the clusters do. */
static bool leads(const json_t *root, const order_result *r)
{
    const char *level =
        json_string_value(json_object_get(json_object_get(root, "verdict"), "level"));
    return level && strcmp(level, "continuum") == 0 && is_stable(r);
}

static json_t *to_json(const json_t *result, const result_items *items, const order_result *r)
{
    json_t *root = json_object();
    json_put_count(root, "n", r->n);
    json_put_count(root, "ordered", r->n_ordered);
    json_put_bool(root, "leads", leads(result, r));
    json_t *stability = json_put_object(root, "stability");
    json_put_bool(stability, "available", !r->unstable_why);
    if (r->unstable_why)
        json_put_text(stability, "why", r->unstable_why);
    json_put_real(stability, "rho", r->stability);
    json_put_bool(stability, "stable", is_stable(r));
    json_t *share = json_put_object(root, "variation");
    json_put_real(share, "share", r->share);
    json_put_real(share, "main_share", r->main_share);
    json_put_real(share, "next_share", r->next_share);
    json_put_bool(share, "one_direction", suffices(r));
    json_put_count(share, "items", r->n_sampled);
    json_put_text(root, "traits_are", r->words ? "words" : "coordinates");
    json_t *list = json_put_array(root, "traits");
    for (int64_t k = 0; k < r->n_traits; k++)
        json_add(list, trait_json(&r->traits[k], k < ORDER_CURVES));
    list = json_put_array(root, "columns");
    for (int64_t k = 0; k < r->n_columns; k++)
        json_add(list, column_json(&r->columns[k]));
    list = json_put_array(root, "items");
    for (int64_t k = 0; k < r->n_ordered; k++)
        json_add(list, json_from_text(id_at(items, r, k)));
    return root;
}

/* ---- as text ---- */

static void add_stability(text *t, const order_result *r)
{
    if (r->unstable_why)
        text_addf(t, "  stability   not available: %s\n", r->unstable_why);
    else
        text_addf(
            t,
            "  stability   %.2f, %s (rank correlation between the orders from random halves of "
            "the points)\n",
            r->stability, is_stable(r) ? "stable" : "not stable");
}

static void add_shares(text *t, const order_result *r)
{
    if (isnan(r->share)) {
        text_add(t, "  variation   not available for this metric or number of items\n");
        return;
    }
    text_addf(t,
              "  variation   %.1f%% of the squared distances follow the order (%.1f%% along one "
              "direction); the next direction has %.1f%%\n",
              100 * r->share, 100 * r->main_share, 100 * r->next_share);
    text_addf(t, "              %s\n",
              suffices(r) ? "one direction is enough"
                          : "one direction is not sufficient: the variation along the next one is "
                            "more than half as large");
}

static void add_traits(text *t, const order_result *r)
{
    text_addf(t,
              "\n%s that change along the order (descriptive only, because the order was computed "
              "from these data)\n%-28s %8s %10s %10s %10s\n",
              r->words ? "words" : "coordinates", "", "rank cor", "start", "middle", "end");
    for (int64_t k = 0; k < r->n_traits && k < ORDER_SHOWN; k++) {
        const order_trait *c = &r->traits[k];
        text_addf(t, "%-28s %+8.2f %10.4g %10.4g %10.4g\n", c->name, c->rho, c->curve[0],
                  c->curve[ORDER_CURVE / 2], c->curve[ORDER_CURVE - 1]);
    }
}

static void add_columns(text *t, const order_result *r)
{
    text_addf(t, "\n%-28s %10s %8s %8s\n", "metadata columns", "effect", "p", "p Holm");
    for (int64_t k = 0; k < r->n_columns; k++) {
        const order_column *c = &r->columns[k];
        char effect[32];
        if (c->number)
            snprintf(effect, sizeof effect, "rho %+.2f", c->rho);
        else
            snprintf(effect, sizeof effect, "eta2 %.2f", c->r2);
        text_addf(t, "%-28s %10s %8.3g %8.3g\n", c->name, effect, c->p, c->p_holm);
    }
}

static void to_text(text *t, const result_items *items, const order_result *r)
{
    text_add(t, "order of ");
    text_add_count(t, r->n_ordered);
    text_addf(t, " items, from %s to %s\n", id_at(items, r, 0), id_at(items, r, r->n_ordered - 1));
    if (r->n_ordered < r->n)
        text_addf(t, "  %" PRId64 " items have no rank\n", r->n - r->n_ordered);
    add_stability(t, r);
    add_shares(t, r);
    if (r->n_traits > 0)
        add_traits(t, r);
    if (r->n_columns > 0)
        add_columns(t, r);
}

/* Warns if the number of points is associated with the order. */
static void warn_points(const session *s, const order_result *r)
{
    for (int64_t k = 0; k < r->n_columns; k++)
        if (strcmp(r->columns[k].name, LOG_POINTS) == 0 && r->columns[k].p <= ORDER_LEVEL)
            message_warning(
                s,
                "the order is associated with the number of points of the items (rank correlation "
                "%+.2f, p = %.3g); distances grow as this number decreases. "
                "Cluster with --per-item N to give all items the same number",
                r->columns[k].rho, r->columns[k].p);
}

/* Writes a table of ids and ranks. */
static bool write_table(session *s, const result_items *items, const order_result *r, int *code)
{
    text t = {0};
    text_add(&t, "id,order,position\n");
    for (int64_t i = 0; i < r->n; i++) {
        text_add_csv(&t, result_items_id(items, i));
        if (r->rank[i] >= 0)
            text_addf(&t, ",%" PRId64 ",%.6f\n", r->rank[i],
                      (double)r->rank[i] / (double)(r->n_ordered - 1));
        else
            text_add(&t, ",,\n");
    }
    bool good = output_text(s, &t, s->opt.output, s->overwrite, code);
    text_free(&t);
    return good;
}

static bool print_order(session *s, const result_items *items, const order_result *r, int *code)
{
    bool good = !s->opt.output || write_table(s, items, r, code);
    if (good && s->opt.json) {
        json_t *result = json_load_result(s, s->opt.operand[0], code);
        good = result && json_print(s, to_json(result, items, r), code);
        json_decref(result);
    } else if (good && !(s->opt.output && output_is_stdout(s->opt.output))) {
        text t = {0};
        to_text(&t, items, r);
        good = output_print(s, &t, code);
    }
    return good;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    result_items items = {0};
    order_result r = {0};
    if (!output_check(s, false, &code) || !result_items_open(s, &items, &code))
        return code;
    bool good = order_read(s, &items, &r, &code) && order_turn(s, &items, &r, &code) &&
                order_split(s, &items, &r, &code) && order_measure(s, &items, &r, &code);
    if (good) {
        order_describe(&items, &r);
        good = order_compare(s, &items, &r, &code) && print_order(s, &items, &r, &code);
    }
    if (good) {
        warn_points(s, &r);
        code = session_exit(s);
    }
    order_free(&r);
    result_items_close(&items);
    return code;
}

#define AT(field) offsetof(cli_options, field)

static const option_spec order_options[] = {
    {.name = "start",
     .kind = OPTION_TEXT,
     .offset = AT(start),
     .argument = "ID|COLUMN=VALUE",
     .help = "reverse the order if needed, so that this item, or the items with this value of a "
             "metadata column, are in its first half"},
    OPTION_META,
    OPTION_META_ID,
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "FILE",
     .help = "also write a table with the columns id, order and position (0 to 1)"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = AT(force),
     .help = "overwrite FILE"},
    {0}};
static const option_group group_order = {"Order", order_options};

static const option_group *const order_groups[] = {&group_order, &group_json, &group_run,
                                                   &group_help, NULL};

const cli_verb verb_order = {
    .name = "order",
    .operands = "DIR",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 1,
    .max_operands = 1,
    .summary = "describe the order of the items along the main direction of a result",
    .description =
        "Describes the order of the items of a result along the slowest direction of the random "
        "walk on the neighbor graph (the column `order` of items.csv). The output reports the "
        "stability of the order, measured on random halves of the points of each item. It reports "
        "which share of the squared distances follows the order (as a cubic function of the "
        "position), and whether another direction explains more than half as much. It lists the "
        "coordinates or words that change along the order (with smooth curves in --json), and "
        "reports how metadata columns are associated with it. The clustering did not use these "
        "columns, so their p-values (999 permutations) are valid. Rank correlations of "
        "coordinates and words are only descriptive.",
    .groups = order_groups,
    .examples = "ddsc order result --start status=healthy\tfrom healthy to ill\n"
                "ddsc order result --meta patients.csv --json\tcurves and associations\n"
                "ddsc order result -o order.csv\tids and ranks as a table\n",
    .run = run,
};
