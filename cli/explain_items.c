/* ddsc explain DIR ITEM ITEM: explains why two items are near or far. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain.h"
#include "options.h"

enum { MOST_AXES = 10 };

static const char *text_at(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

typedef struct flow {
    double mass, distance;
    int64_t from, to; /* points of the set */
} flow;

static int by_mass(const void *a, const void *b)
{
    const flow *x = a, *y = b;
    if (x->mass != y->mass)
        return x->mass < y->mass ? 1 : -1;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static double distance_between(const ddsc_measures_view *v, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t c = 0; c < v->dim; c++) {
        double d = v->support[from * v->dim + c] - v->support[to * v->dim + c];
        sum += d * d;
    }
    return sqrt(sum);
}

static void add_point(text *t, const ddsc_measures *m, const ddsc_measures_view *v, int64_t point)
{
    const char *name = ddsc_measures_get_point_name(m, point);
    if (name && *name) {
        text_add(t, name);
        return;
    }
    text_add(t, "(");
    for (int64_t c = 0; c < v->dim && c < 4; c++)
        text_addf(t, "%s%.4g", c ? ", " : "", v->support[point * v->dim + c]);
    text_add(t, v->dim > 4 ? ", ...)" : ")");
}

typedef struct axis {
    double share, shift; /* share of the squared distance; mean shift along the axis */
    int64_t coordinate;
} axis;

static int by_share(const void *a, const void *b)
{
    const axis *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->coordinate > y->coordinate) - (x->coordinate < y->coordinate);
}

/* If points have no names, adds the share of each coordinate in the squared distance, and the
 * direction in which mass moves. */
static void add_axes(text *t, const ddsc_measures *m, const ddsc_measures_view *v,
                     const flow *flows, int64_t n)
{
    axis *axes = cli_allocate((size_t)v->dim, sizeof *axes);
    double whole = 0;
    for (int64_t c = 0; c < v->dim; c++) {
        axes[c] = (axis){.coordinate = c};
        for (int64_t k = 0; k < n; k++) {
            double way =
                v->support[flows[k].to * v->dim + c] - v->support[flows[k].from * v->dim + c];
            axes[c].share += flows[k].mass * way * way;
            axes[c].shift += flows[k].mass * way;
        }
        whole += axes[c].share;
    }
    qsort(axes, (size_t)v->dim, sizeof *axes, by_share);
    for (int64_t c = 0; whole > 0 && c < v->dim && c < MOST_AXES; c++) {
        const char *name = ddsc_measures_get_coordinate_name(m, axes[c].coordinate);
        char number[40];
        snprintf(number, sizeof number, "coordinate %lld", (long long)axes[c].coordinate);
        text_addf(t, "%s  %5.1f%%  %-20s mean shift %+.3g\n",
                  c ? "" : "the squared distance by coordinate:\n", 100 * axes[c].share / whole,
                  name && *name ? name : number, axes[c].shift);
    }
    free(axes);
}

/* Finds the item with the given id. Prints a message and returns -1 if there is no such item. */
static int64_t find_item(const ddsc_measures *m, const ddsc_measures_view *v, const char *id,
                         int *code)
{
    for (int64_t i = 0; i < v->n_items; i++)
        if (strcmp(ddsc_measures_get_id(m, v->row[i]), id) == 0)
            return i;
    message_error("no item has the id '%s'", id);
    *code = EXIT_INPUT;
    return -1;
}

/* Returns true for clouds of cells: each of their many flows has about the same small mass, so a
 * list of the largest flows would be meaningless. */
static bool are_cells(const ddsc_measures *m, const ddsc_measures_view *v, int64_t n_flows)
{
    enum { CELLS_DIM = 4, CELLS_FLOWS = 40 };
    const char *coordinate = ddsc_measures_get_coordinate_name(m, 0);
    const char *point = ddsc_measures_get_point_name(m, 0);
    bool named = coordinate && *coordinate && !(point && *point);
    return n_flows > CELLS_FLOWS && v->dim >= CELLS_DIM && (named || ddsc_measures_has_types(m));
}

/* Prints the exact transport plan from item i to item j, largest flows first. */
static bool print_flows(session *s, const ddsc_measures *m, const ddsc_measures_view *v, int64_t i,
                        int64_t j, int *code)
{
    int64_t ni = v->offset[i + 1] - v->offset[i], nj = v->offset[j + 1] - v->offset[j];
    ddsc_transport plan;
    text t = {0};
    ddsc_transport_init(&plan);
    plan.plan_row = cli_allocate((size_t)(ni + nj), sizeof *plan.plan_row);
    plan.plan_column = cli_allocate((size_t)(ni + nj), sizeof *plan.plan_column);
    plan.plan_mass = cli_allocate((size_t)(ni + nj), sizeof *plan.plan_mass);
    flow *flows = cli_allocate((size_t)(ni + nj), sizeof *flows);
    bool good = session_ok(s, ddsc_w2_run(s->ctx, &plan, m, i, m, j), code);
    for (int64_t k = 0; good && k < plan.n_plan; k++) {
        flow *f = &flows[k];
        f->mass = plan.plan_mass[k];
        f->from = v->index[v->offset[i] + plan.plan_row[k]];
        f->to = v->index[v->offset[j] + plan.plan_column[k]];
        f->distance = distance_between(v, f->from, f->to);
    }
    if (good) {
        const char *word = ddsc_measures_get_point_name(m, flows[0].from);
        qsort(flows, (size_t)plan.n_plan, sizeof *flows, by_mass);
        text_addf(&t, "W2 distance %.6g; ", sqrt(plan.value));
        if (!word || !*word || are_cells(m, v, plan.n_plan))
            add_axes(&t, m, v, flows, plan.n_plan);
        if (are_cells(m, v, plan.n_plan))
            text_addf(&t, "for the states between which mass moves, run 'ddsc states %s %s %s'\n",
                      s->opt.operand[0], s->opt.operand[1], s->opt.operand[2]);
        else
            text_add(&t, "the largest flows of the transport plan:\n");
    }
    for (int64_t k = 0; good && k < plan.n_plan && k < 20 && !are_cells(m, v, plan.n_plan); k++) {
        text_addf(&t, "  %5.1f%%  ", 100 * flows[k].mass);
        add_point(&t, m, v, flows[k].from);
        text_add(&t, " -> ");
        add_point(&t, m, v, flows[k].to);
        text_addf(&t, ", distance %.4g\n", flows[k].distance);
    }
    good = good && output_text(s, &t, NULL, false, code);
    free(flows);
    free(plan.plan_mass);
    free(plan.plan_column);
    free(plan.plan_row);
    text_free(&t);
    return good;
}

/* Checks that a plan for squared Euclidean costs is meaningful for this result. */
static bool check_pair(session *s, int *code)
{
    const char *dir = s->opt.operand[0];
    json_t *root = json_load_result(s, dir, code);
    const json_t *settings = json_object_get(root, "settings");
    const char *metric = text_at(settings, "metric"), *cost = text_at(settings, "cost");
    bool plain = !*cost || strcmp(cost, "sqeuclidean") == 0, good = root != NULL;
    char *path = output_path(dir, "model.npz");
    if (good && (!plain || strstr(metric, "w1"))) {
        message_error("explaining two items requires squared Euclidean costs, but the clusters of "
                      "'%s' were computed with %s and costs %s",
                      dir, metric, *cost ? cost : "of its own");
        *code = EXIT_USAGE;
        good = false;
    } else if (good && access(path, F_OK) != 0) {
        message_error("'%s' has no model.npz, which contains the items; cluster the items with one "
                      "metric (joined metrics, baselines and --precomputed do not write model.npz)",
                      dir);
        *code = EXIT_INPUT;
        good = false;
    } else if (good && s->opt.json) {
        *code = message_usage(s->verb, "--json is not available for two items");
        good = false;
    } else if (good && strcmp(metric, "w2") != 0) {
        message_warning(
            s, "the plan and the distance use exact W2, but the clusters were computed with %s",
            metric);
    }
    free(path);
    json_decref(root);
    return good;
}

int explain_items(session *s)
{
    int code = EXIT_GOOD;
    if (!check_pair(s, &code))
        return code;
    ddsc_measures *m = NULL;
    ddsc_measures_view v;
    char *path = output_path(s->opt.operand[0], "model.npz");
    if (session_ok(s, ddsc_measures_read(s->ctx, &m, path, NULL), &code)) {
        ddsc_measures_get_view(m, &v);
        int64_t i = find_item(m, &v, s->opt.operand[1], &code);
        int64_t j = i < 0 ? -1 : find_item(m, &v, s->opt.operand[2], &code);
        if (j >= 0 && print_flows(s, m, &v, i, j, &code))
            code = session_exit(s);
    }
    ddsc_measures_destroy(m);
    free(path);
    return code;
}
