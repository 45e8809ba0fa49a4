/* Explains each cluster by words (explain_words.c) or by coordinates. A coordinate is ranked by the
 * Wasserstein-1 distance between its marginal in the cluster and its marginal in all other items,
 * which is the integral of |F - G|. The distance is divided by the standard deviation of the
 * coordinate over all items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/traits/explain.h"

enum {
    N_MARKERS = 8,
    MARKER_DIM = 64,          /* sets with more unnamed coordinates are not explained */
    MARKER_ENTRIES = 1 << 20, /* if there are more entries, only every step-th one is used, */
    MARKER_WORK = 1 << 29     /* and likewise if entries x coordinates x clusters is larger */
};

void traits_keep_finding(finding *best, int *n, int most, finding f)
{
    int at = *n < most ? (*n)++ : most;
    for (; at > 0 && fabs(f.value) > fabs(best[at - 1].value); at--)
        if (at < most)
            best[at] = best[at - 1];
    if (at < most)
        best[at] = f;
}

/* ---- coordinates ---- */

typedef struct entry {
    double value, mass;
    int32_t label;
} entry;

typedef struct marginals {
    int64_t n_entries, step; /* entries used: every step-th */
    entry *entry;
    double *mass;             /* k: total mass of each cluster */
    double *below, *distance; /* k: mass up to the current value; integral of |F - G| */
    double *sum;              /* k: sum of mass x value */
    finding *best;            /* k x N_MARKERS */
    int *n_best;              /* k */
} marginals;

static int by_value(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static void fill_entries(const ddsc_report *r, marginals *s, int64_t coordinate)
{
    const ddsc_measures_view *m = &r->items;
    int64_t n = 0;
    for (int64_t i = 0; i < m->n_items; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            if (e % s->step == 0 && !result_left_out(r, i))
                s->entry[n++] = (entry){m->support[m->index[e] * m->dim + coordinate], m->weight[e],
                                        r->view.labels[i]};
    s->n_entries = n;
    qsort(s->entry, (size_t)n, sizeof *s->entry, by_value);
}

/* Computes the distances of one coordinate for all clusters in a single pass over the sorted
 * values. */
static void compare_marginals(const ddsc_report *r, marginals *s, int64_t coordinate)
{
    double total = 0, below = 0, sum = 0, square = 0;
    for (int64_t c = 0; c < r->k; c++)
        s->mass[c] = s->below[c] = s->distance[c] = s->sum[c] = 0;
    for (int64_t e = 0; e < s->n_entries; e++) {
        s->mass[s->entry[e].label] += s->entry[e].mass;
        s->sum[s->entry[e].label] += s->entry[e].mass * s->entry[e].value;
        total += s->entry[e].mass;
        sum += s->entry[e].mass * s->entry[e].value;
    }
    for (int64_t e = 0; e < s->n_entries; e++) {
        double off = s->entry[e].value - sum / total;
        double step = e + 1 < s->n_entries ? s->entry[e + 1].value - s->entry[e].value : 0;
        square += s->entry[e].mass * off * off;
        s->below[s->entry[e].label] += s->entry[e].mass;
        below += s->entry[e].mass;
        for (int64_t c = 0; step > 0 && c < r->k; c++)
            s->distance[c] += step * fabs(s->below[c] / s->mass[c] -
                                          (below - s->below[c]) / (total - s->mass[c]));
    }
    double spread = sqrt(square / total);
    for (int64_t c = 0; spread > 0 && c < r->k; c++) {
        double here = s->sum[c] / s->mass[c];
        double elsewhere = (sum - s->sum[c]) / (total - s->mass[c]);
        double effect = s->distance[c] / spread * (here < elsewhere ? -1 : 1);
        if (isfinite(effect))
            traits_keep_finding(s->best + c * N_MARKERS, &s->n_best[c], N_MARKERS,
                                (finding){coordinate, effect, here, elsewhere});
    }
}

static void put_markers(ddsc_report *r, int64_t c, const marginals *s)
{
    json_t *list = put_array(r, result_cluster_row(r, c), "markers");
    for (int i = 0; i < s->n_best[c]; i++) {
        const finding *f = &s->best[c * N_MARKERS + i];
        const char *name = ddsc_measures_get_coordinate_name(r->measures, f->which);
        json_t *found = put_row(r, list);
        put_count(r, found, "coordinate", f->which);
        if (name)
            put_text(r, found, "name", name);
        put_real(r, found, "effect", f->value);
        put_real(r, found, "mean", f->here);
        put_real(r, found, "elsewhere", f->elsewhere);
    }
}

static ddsc_status explain_by_markers(ddsc_report *r)
{
    ddsc_status status = DDSC_OK;
    int64_t most = MARKER_WORK / (r->items.dim * r->k);
    marginals s = {.step = 1 + r->items.n_entries / BASE_MAX(BASE_MIN(most, MARKER_ENTRIES), 1000)};
    TRY(MEM_NEW(r->ctx, s.entry, r->items.n_entries / s.step + 1));
    TRY(MEM_NEW(r->ctx, s.mass, r->k));
    TRY(MEM_NEW(r->ctx, s.below, r->k));
    TRY(MEM_NEW(r->ctx, s.distance, r->k));
    TRY(MEM_NEW(r->ctx, s.sum, r->k));
    TRY(MEM_NEW(r->ctx, s.best, r->k * N_MARKERS));
    TRY(MEM_ZERO(r->ctx, s.n_best, r->k));
    for (int64_t k = 0; k < r->items.dim; k++) {
        fill_entries(r, &s, k);
        compare_marginals(r, &s, k);
    }
    for (int64_t c = 0; c < r->k; c++)
        put_markers(r, c, &s);
done:
    MEM_FREE(r->ctx, s.entry, s.mass, s.below, s.distance, s.sum, s.best, s.n_best);
    return status;
}

/* ---- as text ---- */

void traits_add(buffer *t, const json_t *cluster, size_t most)
{
    const json_t *words = json_object_get(cluster, "words");
    const json_t *markers = json_object_get(cluster, "markers");
    for (size_t i = 0; i < json_array_size(words) && i < most; i++) {
        const char *text = json_string_value(json_object_get(json_array_get(words, i), "word"));
        buffer_addf(t, "%s%s", i ? ", " : "", text ? text : "");
    }
    for (size_t i = 0; i < json_array_size(markers) && i < most; i++) {
        const json_t *marker = json_array_get(markers, i);
        const char *name = json_string_value(json_object_get(marker, "name"));
        buffer_add(t, i ? ", " : "");
        if (name)
            buffer_add(t, name);
        else
            buffer_addf(t, "coordinate %lld",
                        (long long)json_integer_value(json_object_get(marker, "coordinate")));
        buffer_addf(t, " %+.2g", json_number_value(json_object_get(marker, "effect")));
    }
}

ddsc_status traits_put_explanation(ddsc_report *r)
{
    const ddsc_measures_view *m = &r->items;
    if (!r->measures || r->k < 2 || r->k >= r->view.n || !result_cluster_row(r, 0))
        return DDSC_OK;
    if (result_has_words(r))
        return traits_explain_words(r);
    if (ddsc_measures_get_coordinate_name(r->measures, 0) || (!m->is_grid && m->dim <= MARKER_DIM))
        return explain_by_markers(r);
    return DDSC_OK;
}
