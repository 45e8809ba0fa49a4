/* Tests for equal dispersion by an analysis of variance of the distances from the items to the
 * centroids of their levels. As in vegan's permutest for betadisper, the residuals are permuted. */
#include <math.h>
#include <string.h>

#include "assess/cohort/permanova.h"

static void count_levels(dispersion *s, const variable *v, const int64_t *item)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->code[i] = v->x[item[i]];
        s->size[(int64_t)s->code[i]]++;
    }
    for (int64_t g = 0; g < s->n_levels; g++)
        s->n_used += s->size[g] > 0;
}

/* Computes the distances to the centroids. The squared distance from item i to the centroid of its
 * level is G_ii - 2 mean_j G_ij + mean_jk G_jk, where j and k run over the items with the same
 * level as i. If the input distances are not Euclidean, this value can be negative and is replaced
 * with 0. */
static ddsc_status find_distances(ddsc_context *ctx, dispersion *s, const double *gram)
{
    ddsc_status status = DDSC_OK;
    double *within = NULL, *toward = NULL;
    TRY(MEM_ZERO(ctx, within, s->n_levels));
    TRY(MEM_ZERO(ctx, toward, s->n));
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < s->n; j++)
            if ((int64_t)s->code[j] == (int64_t)s->code[i])
                toward[i] += gram[i * s->n + j];
        within[(int64_t)s->code[i]] += toward[i];
    }
    for (int64_t i = 0; i < s->n; i++) {
        int64_t g = (int64_t)s->code[i];
        double size = s->size[g];
        double d2 = gram[i * s->n + i] - 2 * toward[i] / size + within[g] / (size * size);
        s->distance[i] = sqrt(fmax(d2, 0));
        s->mean[g] += s->distance[i] / size;
        s->limit += 1e-20 * gram[i * s->n + i];
    }
done:
    MEM_FREE(ctx, within, toward);
    return status;
}

ddsc_status dispersion_open(ddsc_context *ctx, dispersion *s, const variable *v,
                            const int64_t *item, int64_t n, const double *gram)
{
    *s = (dispersion){.n = n, .n_levels = v->n_levels};
    CHECK(MEM_NEW(ctx, s->code, n));
    CHECK(MEM_NEW(ctx, s->distance, n));
    CHECK(MEM_NEW(ctx, s->residual, n));
    CHECK(MEM_ZERO(ctx, s->size, v->n_levels));
    CHECK(MEM_ZERO(ctx, s->mean, v->n_levels));
    count_levels(s, v, item);
    CHECK(find_distances(ctx, s, gram));
    for (int64_t i = 0; i < n; i++) {
        s->residual[i] = s->distance[i] - s->mean[(int64_t)s->code[i]];
        s->square += s->residual[i] * s->residual[i];
    }
    return DDSC_OK;
}

/* Returns the F statistic from the sums of squares between and within levels. */
static double ratio(const dispersion *s, double between, double within)
{
    double levels = (double)s->n_used;
    return (between / (levels - 1)) / (within / ((double)s->n - levels));
}

void dispersion_give(dispersion *s, permanova_effect *effect)
{
    double mean = 0, between = 0;
    for (int64_t i = 0; i < s->n; i++)
        mean += s->distance[i] / (double)s->n;
    for (int64_t g = 0; g < s->n_levels; g++)
        between += s->size[g] * (s->mean[g] - mean) * (s->mean[g] - mean);
    if (s->n > s->n_used && s->square > s->limit)
        effect->dispersion_f = ratio(s, between, s->square);
    effect->distance = s->distance;
    effect->mean_distance = s->mean;
    s->distance = s->mean = NULL;
}

double dispersion_permuted(const dispersion *s, const int32_t *source, double *sum)
{
    double all = 0, explained = 0;
    memset(sum, 0, (size_t)s->n_levels * sizeof *sum);
    for (int64_t i = 0; i < s->n; i++) {
        sum[(int64_t)s->code[source[i]]] += s->residual[i];
        all += s->residual[i];
    }
    for (int64_t g = 0; g < s->n_levels; g++)
        explained += s->size[g] > 0 ? sum[g] * sum[g] / s->size[g] : 0;
    return ratio(s, explained - all * all / (double)s->n, fmax(s->square - explained, 0));
}

void dispersion_close(ddsc_context *ctx, dispersion *s)
{
    MEM_FREE(ctx, s->code, s->distance, s->residual, s->size, s->mean);
    *s = (dispersion){0};
}
