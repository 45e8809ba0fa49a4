/* ddsc states: divides the points of a result into states and compares their shares. */
#include "states.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

const char *states_coordinate(const states_result *r, int64_t coordinate, char space[40])
{
    const char *name = ddsc_measures_get_coordinate_name(r->items->in.measures, coordinate);
    snprintf(space, 40, "coordinate %" PRId64, coordinate);
    return name && *name ? name : space;
}

/* ---- sides of a comparison ---- */

/* Returns the cluster with the number or name in the operand, or -1 if there is none. */
static int64_t find_cluster(session *s, const result_items *items, const char *word, int *code)
{
    char *end;
    long long number = strtoll(word, &end, 10);
    if (*word && *end == '\0' && number >= 0 && number < items->view.k)
        return number;
    json_t *root = json_load_result(s, s->opt.operand[0], code), *row;
    int64_t found = -1;
    size_t i;
    json_array_foreach(json_object_get(root, "clusters"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name && strcmp(name, word) == 0 && (int64_t)i < items->view.k)
            found = (int64_t)i;
    }
    json_decref(root);
    return found;
}

/* Reads an operand: the id of an item, or a cluster. The prefix "cluster:" selects a cluster. */
static bool find_side(session *s, const result_items *items, states_side *side, const char *word,
                      int *code)
{
    int64_t n = items->in.view.n_items, cluster = -1;
    bool forced = strncmp(word, "cluster:", 8) == 0;
    side->items = cli_allocate((size_t)n + 1, sizeof *side->items);
    for (int64_t i = 0; !forced && i < n; i++)
        if (strcmp(result_items_id(items, i), word) == 0)
            side->items[side->n++] = i;
    if (side->n > 0) {
        snprintf(side->name, sizeof side->name, "%.300s", word);
        return true;
    }
    cluster = find_cluster(s, items, forced ? word + 8 : word, code);
    for (int64_t i = 0; i < n; i++)
        if (cluster >= 0 && items->view.labels[i] == cluster)
            side->items[side->n++] = i;
    snprintf(side->name, sizeof side->name, "cluster %" PRId64, cluster);
    if (side->n > 0)
        return true;
    message_error("'%s' is neither the id of an item nor a cluster of the result; clusters are "
                  "numbered from 0 to %" PRId64 " (cluster:N selects a cluster if an item has the "
                  "same id)",
                  word, items->view.k - 1);
    *code = EXIT_INPUT;
    return false;
}

static bool compare_sides(states_result *r, int *code)
{
    session *s = r->s;
    if (s->opt.n_operands < 2)
        return true;
    r->compared = true;
    for (int side = 0; side < 2; side++)
        if (!find_side(s, r->items, &r->side[side], s->opt.operand[1 + side], code))
            return false;
    size_t k = (size_t)r->v.n_states, d = (size_t)r->v.dim;
    ddsc_states_flow_init(&r->flow);
    r->flow.mass = cli_allocate(k * k, sizeof *r->flow.mass);
    r->flow.shift = cli_allocate(k * d, sizeof *r->flow.shift);
    r->flow.from = cli_allocate(k, sizeof *r->flow.from);
    r->flow.to = cli_allocate(k, sizeof *r->flow.to);
    return session_ok(s,
                      ddsc_states_flow_run(s->ctx, &r->flow, r->states, r->items->in.measures,
                                           r->side[0].n, r->side[0].items, r->side[1].n,
                                           r->side[1].items),
                      code);
}

/* ---- columns ---- */

/* Computes, for each item, the mean of each coordinate in each state, in standard deviations of the
 * state. A mean is NaN if the item has too few points in the state. */
static void item_means(const states_result *r, int64_t item, double *mean)
{
    const ddsc_measures_view *m = &r->items->in.view;
    int64_t k = r->v.n_states, d = r->v.dim;
    double *share = cli_allocate((size_t)k, sizeof *share);
    int64_t *count = cli_allocate((size_t)k, sizeof *count);
    for (int64_t e = m->offset[item]; e < m->offset[item + 1]; e++) {
        int64_t of = r->v.of[m->index[e]];
        share[of] += m->weight[e];
        count[of]++;
        for (int64_t a = 0; a < d; a++)
            mean[of * d + a] += m->weight[e] * m->support[m->index[e] * d + a];
    }
    for (int64_t a = 0; a < k * d; a++)
        mean[a] = count[a / d] >= STATES_LEAST_POINTS && r->v.deviation[a] > 0
                      ? (mean[a] / share[a / d] - r->v.mean[a]) / r->v.deviation[a]
                      : (double)NAN;
    free(share);
    free(count);
}

/* Measures the associations with one column. */
static bool compare_column(states_result *r, int64_t at, const double *means, int *code)
{
    session *s = r->s;
    states_column *c = &r->by[at];
    int64_t n = r->v.n_items, k = r->v.n_states, permutations = s->opt.permutations, n_columns = 1;
    ddsc_column column[TEST_COLUMNS] = {*r->of[at]}; /* and covariates and blocks */
    for (int64_t b = 0; b < r->columns.n; b++)
        if (r->columns.column[b].role != DDSC_COLUMN_BY)
            column[n_columns++] = r->columns.column[b];
    bool good = session_ok(s,
                           ddsc_effects_run(s->ctx, &c->shares, n, k, r->v.share, n_columns, column,
                                            permutations),
                           code) &&
                session_ok(s,
                           ddsc_effects_run(s->ctx, &c->shifts, n, k * r->v.dim, means, n_columns,
                                            column, permutations),
                           code);
    ddsc_effects_get_view(c->shares, &c->share);
    ddsc_effects_get_view(c->shifts, &c->shift);
    return good;
}

static bool compare_columns(states_result *r, int *code)
{
    int64_t n = r->v.n_items, width = r->v.n_states * r->v.dim;
    if (!test_columns_open(r->s, r->items, &r->columns, code))
        return false;
    for (int64_t c = 0; c < r->columns.n; c++)
        if (r->columns.column[c].role == DDSC_COLUMN_BY)
            r->of[r->n_by++] = &r->columns.column[c];
    double *means = cli_allocate((size_t)(n * width) + 1, sizeof *means);
    for (int64_t i = 0; r->n_by > 0 && i < n; i++)
        item_means(r, i, means + i * width);
    bool good = true;
    for (int64_t c = 0; good && c < r->n_by; c++)
        good = compare_column(r, c, means, code);
    free(means);
    return good;
}

/* ---- the verb ---- */

static void result_free(states_result *r)
{
    for (int64_t c = 0; c < r->n_by; c++) {
        ddsc_effects_destroy(r->by[c].shares);
        ddsc_effects_destroy(r->by[c].shifts);
    }
    test_columns_close(&r->columns);
    for (int side = 0; side < 2; side++)
        free(r->side[side].items);
    free(r->flow.mass);
    free(r->flow.shift);
    free(r->flow.from);
    free(r->flow.to);
    ddsc_states_destroy(r->states);
    free(r);
}

static bool find_states(states_result *r, int *code)
{
    ddsc_states_settings set;
    ddsc_states_settings_init(&set);
    set.n_states = r->s->opt.n_states;
    bool good =
        session_ok(r->s, ddsc_states_run(r->s->ctx, &r->states, r->items->in.measures, &set), code);
    ddsc_states_get_view(r->states, &r->v);
    return good;
}

static bool print_states(states_result *r, int *code)
{
    if (r->s->opt.json)
        return json_print(r->s, states_to_json(r), code);
    text t = {0};
    states_to_text(&t, r);
    return output_print(r->s, &t, code);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    result_items items = {0};
    if (s->opt.n_operands == 2)
        return message_usage(s->verb, "expected two items or two clusters after the folder");
    if ((s->opt.block || s->opt.adjust) && !s->opt.by)
        return message_usage(s->verb, "%s requires --by COLUMN",
                             s->opt.block ? "--block" : "--adjust");
    if (!result_items_open(s, &items, &code))
        return code;
    states_result *r = cli_allocate(1, sizeof *r);
    r->s = s;
    r->items = &items;
    if (find_states(r, &code) && compare_sides(r, &code) && compare_columns(r, &code) &&
        print_states(r, &code))
        code = session_exit(s);
    result_free(r);
    result_items_close(&items);
    return code;
}

static const char *parse_states(cli_options *o, const char *value)
{
    char *end;
    o->n_states = 0;
    if (strcmp(value, "auto") == 0)
        return NULL;
    long long n = strtoll(value, &end, 10);
    if (*value == '\0' || *end != '\0' || n < 1 || n > 200)
        return "auto or a number from 1 to 200";
    o->n_states = n;
    return NULL;
}

#define AT(field) offsetof(cli_options, field)

static const option_spec states_options[] = {
    {.name = "states",
     .kind = OPTION_OTHER,
     .parse = parse_states,
     .argument = "N|auto",
     .help = "number of states, at most 200 (default: auto, the types of the points if they have "
             "any, and otherwise the largest number from 2 to 20 for which two halves of the "
             "sampled points agree)"},
    {.name = "by",
     .kind = OPTION_TEXT,
     .offset = AT(by),
     .argument = "COLUMN,...",
     .help = "compare the shares of the states, and the coordinates within each state, between the "
             "classes of these columns, or correlate them with the numbers"},
    {.name = "adjust",
     .kind = OPTION_TEXT,
     .offset = AT(adjust),
     .argument = "COLUMN,...",
     .help = "covariates of --by, such as age, sex and batch: effects are those of a linear model "
             "with them; " LOG_POINTS " is the logarithm of the number of points of each item"},
    {.name = "block",
     .kind = OPTION_TEXT,
     .offset = AT(block),
     .argument = "COLUMN",
     .help = "compare items only within the same value of this column (such as a patient)"},
    OPTION_FACTOR,
    OPTION_NUMERIC,
    OPTION_PERMUTATIONS,
    OPTION_META,
    OPTION_META_ID,
    {0}};
static const option_group group_states = {"States", states_options};

static const option_group *const states_groups[] = {&group_states, &group_json, &group_run,
                                                    &group_help, NULL};

const cli_verb verb_states = {
    .name = "states",
    .operands = "DIR [FROM TO]",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 1,
    .max_operands = 3,
    .summary = "compare the states of the points of a result, such as cell states",
    .description =
        "Divides the points of all items into states: the types in the column given to 'ddsc "
        "cluster --type', or k-means clusters of a sample of the pooled points. Prints the share "
        "of each "
        "state in all items and in each cluster. The clusters were computed from the same points, "
        "so these shares describe the clusters but are not evidence for them.\n"
        "\n"
        "With --by, compares the shares between the classes of a column, or correlates them with "
        "its numbers. The effect is the difference of the mean shares (or a rank correlation) with "
        "its 95% confidence interval. p-values are computed by permutations and corrected for the "
        "number of states (Benjamini and Hochberg). Coordinates are compared in the same way "
        "within each state, in standard deviations of the state. Items with fewer than 5 points in "
        "a state are ignored. The clustering must not have used these columns. With --adjust, "
        "effects are coefficients of a linear model (or partial rank correlations), and "
        "permutations exchange the residuals of the covariates.\n"
        "\n"
        "FROM and TO are ids of items or numbers of clusters. If they are given, lists the states "
        "between which an optimal transport plan moves mass, and the coordinates that change "
        "within each state.",
    .groups = states_groups,
    .examples = "ddsc states result\tstates, and their shares by cluster\n"
                "ddsc states result --by condition --block patient\tpaired samples\n"
                "ddsc states result --by status --adjust age,sex\tadjusted for age and sex\n"
                "ddsc states result 0 1\ttransport from cluster 0 to cluster 1\n"
                "ddsc states result p1_rest p1_stim --json\ttransport between two items\n",
    .run = run,
};
