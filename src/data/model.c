/* The model object: its memory, its view and its validation. cluster/ creates and uses models. */
#include "data/model.h"

#include <math.h>

#include "base/sized.h"
#include "base/team.h"

void ddsc_model_destroy(ddsc_model *m)
{
    if (!m)
        return;
    ddsc_context *ctx = m->ctx;
    if (m->block)
        team_unshare(ctx, m->block);
    else
        MEM_FREE(ctx, m->plain_d2, m->plain_index, m->plain_offset, m->list_d2, m->list_index,
                 m->list_offset, m->cost_matrix, m->hub_scale, m->center_label, m->center, m->reach,
                 m->scale, m->eigenvalue, m->radius, m->embedding, m->fresh);
    if (!m->block)
        model_free_mixture(ctx, &m->mixture);
    ddsc_measures_destroy(m->reference);
    ddsc_measures_destroy(m->items);
    mem_free(ctx, m);
}

static void list_doubles(team_arrays *a, double **x, int64_t n)
{
    team_array(a, x, n * (int64_t)sizeof **x);
}

static void list_model(team_arrays *a, void *object)
{
    ddsc_model *m = object;
    team_array(a, &m->list_offset, (m->n + 1) * (int64_t)sizeof *m->list_offset);
    int64_t n_edges = m->list_offset ? m->list_offset[m->n] : 0, n_plain;
    list_doubles(a, &m->list_d2, n_edges);
    team_array(a, &m->list_index, n_edges * (int64_t)sizeof *m->list_index);
    team_array(a, &m->plain_offset, (m->n + 1) * (int64_t)sizeof *m->plain_offset);
    n_plain = m->plain_offset ? m->plain_offset[m->n] : 0;
    list_doubles(a, &m->plain_d2, n_plain);
    team_array(a, &m->plain_index, n_plain * (int64_t)sizeof *m->plain_index);
    team_array(a, &m->fresh, m->n_fresh * (int64_t)sizeof *m->fresh);
    list_doubles(a, &m->cost_matrix, m->metric.cost_size * m->metric.cost_size);
    list_doubles(a, &m->embedding, m->n * m->width);
    list_doubles(a, &m->radius, m->n);
    list_doubles(a, &m->eigenvalue, m->width);
    list_doubles(a, &m->scale, m->n);
    list_doubles(a, &m->reach, m->n);
    list_doubles(a, &m->hub_scale, m->n);
    list_doubles(a, &m->center, m->n_centers * m->width);
    team_array(a, &m->center_label, m->n_centers * (int64_t)sizeof *m->center_label);
    team_array(a, &m->mixture.word, m->mixture.n_words * (int64_t)sizeof *m->mixture.word);
    list_doubles(a, &m->mixture.theta, m->mixture.n_words * m->mixture.k);
    list_doubles(a, &m->mixture.share, m->mixture.k);
}

/* Copies the struct of the first rank without the sets that it points to. *reference is set to true
 * if the model has a LOT reference. */
static ddsc_status copy_model(ddsc_context *ctx, ddsc_model **model, bool *reference)
{
    ddsc_model *m = *model;
    if (!m)
        CHECK(MEM_ZERO(ctx, m, 1));
    ddsc_status status = team_first(ctx, m, sizeof *m);
    *reference = m->reference != NULL;
    if (!*model)
        m->items = m->reference = NULL;
    m->ctx = ctx;
    *model = m;
    return status;
}

ddsc_status model_move(ddsc_context *ctx, ddsc_model **model)
{
    ddsc_status status = DDSC_OK;
    ddsc_model *m = *model, *own = m;
    bool reference;
    if (team_size(ctx) == 1)
        return DDSC_OK;
    TRY(copy_model(ctx, &m, &reference));
    TRY(measures_move(ctx, &m->items));
    if (reference)
        TRY(measures_move(ctx, &m->reference));
    TRY(team_move(ctx, &m->block, m, list_model));
    m->metric.reference_measures = m->reference;
    m->metric.cost_matrix = m->cost_matrix;
    *model = m;
done:
    if (status < 0 && !own && m) { /* the arrays belong to another rank */
        ddsc_measures_destroy(m->items);
        ddsc_measures_destroy(m->reference);
        team_unshare(ctx, m->block);
        mem_free(ctx, m);
    }
    return status;
}

void ddsc_model_get_view_sized(const ddsc_model *m, ddsc_model_view *view, size_t size)
{
    ddsc_model_view own = {0};
    if (m)
        own = (ddsc_model_view){.n_items = m->n,
                                .dim = m->items->d,
                                .k = m->k,
                                .tau = m->tau,
                                .metric = m->metric.metric,
                                .far_distance = m->far_distance,
                                .far_neighbor = m->far_neighbor,
                                .labels = m->items->label,
                                .measures = m->items,
                                .n_vectors = m->width,
                                .metric_settings = &m->metric,
                                .n_mixture_words = m->mixture.n_words};
    sized_view(view, size, &own, sizeof own);
}

static bool all_within(const double *x, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] >= low && x[i] <= high))
            return false;
    return true;
}

static bool labels_within(const int32_t *label, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        if (label[i] < 0 || label[i] >= k)
            return false;
    return true;
}

/* Checks that the numbers in the metric settings are finite and in range. The metric itself checks
 * the other rules. */
static bool metric_within(const ddsc_metric_settings *set)
{
    bool kernel = set->metric == DDSC_METRIC_MMD && set->mmd_kernel != DDSC_KERNEL_ENERGY;
    return set->epsilon > 0 && set->epsilon <= 1e300 && set->sinkhorn_tolerance > 0 &&
           set->sinkhorn_tolerance < 1 && set->sinkhorn_max_iterations > 0 &&
           set->w2_max_pivots >= 0 &&
           (!kernel || (set->bandwidth >= 1e-150 && set->bandwidth <= 1e150));
}

/* Returns true if every row has unit length, or is zero because the item has no embedding. There
 * must be at least one nonzero row. */
static bool rows_within(const double *row, int64_t n, int64_t width, double least)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t k = 0; k < width; k++)
            square += row[i * width + k] * row[i * width + k];
        if (square != 0 && !(square >= least && square <= 1 + 1e-6))
            return false;
        any |= square > 0;
    }
    return any;
}

/* Checks the eigenvalues of a normalized affinity matrix: the first is at least 0.5, and the values
 * are in [-1, 1] and in decreasing order, up to rounding. */
static bool eigenvalues_within(const double *value, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (!(value[k] <= value[k - 1] + 1e-6))
            return false;
    return all_within(value, n, -1 - 1e-6, 1 + 1e-6) && value[0] >= 0.5;
}

static bool mixture_within(const ddsc_model *m)
{
    const word_mixture *mix = &m->mixture;
    double sum = 0;
    for (int64_t w = 0; w < mix->n_words; w++)
        if (mix->word[w] < (w ? mix->word[w - 1] + 1 : 0) ||
            mix->word[w] >= m->items->counts.n_words)
            return false;
    for (int64_t c = 0; c < mix->k; c++)
        sum += mix->share[c];
    return all_within(mix->theta, mix->n_words * mix->k, 1e-300, 1) &&
           all_within(mix->share, mix->k, 0, 1) && sum > 0 && mix->softness >= 1e-3 &&
           mix->softness <= 1e6;
}

static bool lists_within(const ddsc_model *m, const int64_t *offset)
{
    for (int64_t i = 0; offset && i < m->n; i++)
        if (offset[i + 1] - offset[i] > m->tau)
            return false;
    return true;
}

static bool rules_within(const model_rules *r)
{
    return r->tau >= 0 && r->reference_size >= 0 && r->epsilon > 0 && r->epsilon <= 1e300 &&
           r->epsilon_is_percent >= 0 && r->epsilon_is_percent <= 1;
}

static bool fresh_within(const ddsc_model *m)
{
    for (int64_t f = 0; f < m->n_fresh; f++)
        if (m->fresh[f] < (f ? m->fresh[f - 1] + 1 : 0) || m->fresh[f] >= m->n)
            return false;
    return true;
}

/* Checks the ranges of the run's settings. Whether the frame matches the items is checked later,
 * when the frame is used. */
static bool run_within(const model_run *run)
{
    const pair_frame *f = &run->frame;
    const double values[] = {f->unit, f->spread, f->step[0], f->step[1]};
    return all_within(values, 4, 0, 1e300) && run->mmd_features >= 0 &&
           run->mmd_features <= 1 << 20 && run->lot_components >= 0 && run->paper >= 0 &&
           run->paper <= 1 && run->sample > 0 && run->sample <= 1 && run->sample_columns > 0 &&
           run->sample_columns <= 1 && run->min_cluster >= 0 && run->min_cluster <= 1 &&
           run->k >= 1 && run->k <= INT32_MAX && run->next_id >= 0 && run->next_id <= INT64_MAX / 2;
}

const char *model_breach(const ddsc_model *m)
{
    const double most = MODEL_REACH_MOST;
    bool negative = m->metric.metric == DDSC_METRIC_MMD; /* estimates of D^2 may be negative */
    if (!metric_within(&m->metric))
        return "a metric setting is out of range";
    if (m->k < 1 || m->k > m->n || m->tau >= BASE_MAX(m->n, 2) || m->tau < (m->n > 1))
        return "k or tau is inconsistent with the number of items";
    if (!m->items->label || !labels_within(m->items->label, m->n, m->k))
        return "labels are missing, or not less than k";
    if (m->n_centers < 1 || !labels_within(m->center_label, m->n_centers, m->k))
        return "labels of centers are missing, or not less than k";
    if (m->width < 1 || !rows_within(m->embedding, m->n, m->width, 1 - 1e-6) ||
        !rows_within(m->center, m->n_centers, m->width, 0))
        return "rows of the embedding or centers do not have unit length";
    if (!eigenvalues_within(m->eigenvalue, m->width))
        return "eigenvalues exceed 1 or are not in decreasing order";
    if (!all_within(m->radius, m->n, 0, most) || !all_within(m->scale, m->n, 5e-324, most) ||
        !all_within(m->reach, m->n, negative ? -most : 0, most))
        return "a radius, scale or reach is out of range";
    if (m->hub_scale && !all_within(m->hub_scale, m->n, 1e-300, most))
        return "a scale for choosing neighbors is out of range";
    if (!lists_within(m, m->list_offset) || !lists_within(m, m->plain_offset))
        return "a neighbor list is longer than tau";
    if (!rules_within(&m->rules))
        return "a requested setting is out of range";
    if (!fresh_within(m))
        return "the indices of new items are not ascending, or not less than the number of items";
    if (m->run.frame.kind != FRAME_NONE && !run_within(&m->run))
        return "a setting of the run is out of range";
    if (!(m->gamma >= 0 && m->gamma <= most) || !(m->least_scale >= 0) || !(m->far_distance >= 0) ||
        m->far_neighbor < 1)
        return "gamma, the far distance or the far neighbor is out of range";
    if (m->mixture.n_words > 0 && !mixture_within(m))
        return "the mixture of words is inconsistent with the counted words, or out of range";
    if (!(m->softness == 0 || (m->softness >= 1e-6 && m->softness <= 1e6)))
        return "the softness of memberships is out of range";
    return NULL;
}
