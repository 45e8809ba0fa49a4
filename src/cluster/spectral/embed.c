/* Computes the embedding from the eigenvectors. k-means clusters its rows. */
#include <math.h>

#include "cluster/spectral/cluster.h"
#include "numeric/linalg/linalg.h"

enum { VECTORS_MIN = 30, VECTORS_MORE = 200 };

/* An item is called faint if its degree is below this fraction of the mean degree: its eigenvector
 * entries, which are proportional to the square root of the degree, are then less than the accuracy
 * of the solver. */
static const double FAINT = 1e-8;

int64_t embed_width(int64_t k, bool paper)
{
    if (paper || k == 1)
        return k;
    return BASE_MAX(VECTORS_MIN, BASE_MIN(3 * k, k + VECTORS_MORE));
}

/* Returns the sum of lambda^(2p), which is the effective dimension of the weighted rows. */
static double dimension(const double *lambda, int64_t width, double p)
{
    double sum = 0;
    for (int64_t j = 0; j < width; j++)
        if (lambda[j] > 0)
            sum += pow(fmin(lambda[j], 1), 2 * p);
    return sum;
}

/* Solves dimension(p) = k for p; `dimension` decreases with p. Returns 0 if dimension(0) is at most
 * k. If more than k eigenvalues are equal to 1, no solution exists, and the returned p is so large
 * that only these eigenvalues contribute. */
static double solve_power(const double *lambda, int64_t width, double k)
{
    double low = 0, high = 1;
    if (dimension(lambda, width, 0) <= k)
        return 0;
    while (high < 1e9 && dimension(lambda, width, high) > k) {
        low = high;
        high *= 2;
    }
    for (int step = 0; step < 100 && high < 1e9; step++) {
        double middle = (low + high) / 2;
        if (dimension(lambda, width, middle) > k)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double normalize(double *row, int64_t width)
{
    double norm = la_norm(width, row);
    for (int64_t j = 0; j < width && norm > 0; j++)
        row[j] /= norm;
    return norm;
}

/* Sets row i to the weighted mean of the rows of its sound (not faint) neighbors. This is one step
 * of the random walk. It multiplies each column of exact rows by its eigenvalue. */
static bool borrow_row(double *row, const double *rows, int64_t width, const sparse *a, int64_t i,
                       const uint8_t *sound)
{
    bool any = false;
    double most = 0;
    for (int64_t j = 0; j < width; j++)
        row[j] = 0;
    for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++)
        if (sound[a->column[p]] == 1)
            most = fmax(most, a->value[p]);
    for (int64_t p = a->offset[i]; p < a->offset[i + 1]; p++) {
        if (sound[a->column[p]] != 1)
            continue;
        any = true;
        for (int64_t j = 0; j < width; j++)
            row[j] += a->value[p] / most * rows[a->column[p] * width + j];
    }
    return any;
}

/* Recomputes faint rows from their neighbors. Rows are marked 1 if sound, 0 if faint, and 2 if
 * recomputed in the current sweep. The sweeps are repeated until no faint row has a sound
 * neighbor. */
static void recompute_faint(double *rows, int64_t width, const decomposition *d, uint8_t *sound)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < d->n; i++)
            if (sound[i] == 0 && borrow_row(rows + i * width, rows, width, &d->a, i, sound)) {
                normalize(rows + i * width, width);
                sound[i] = 2;
                changed = true;
            }
        for (int64_t i = 0; i < d->n; i++)
            sound[i] = sound[i] == 2 ? 1 : sound[i];
    }
}

/* Marks the sound items. Sets *any to true if some items are faint. The degree of an item is
 * compared with the mean degree in its component. */
static ddsc_status mark_faint(ddsc_context *ctx, uint8_t *sound, bool *any, const decomposition *d)
{
    ddsc_status status = DDSC_OK;
    double *volume = NULL;
    int64_t *size = NULL;
    TRY(MEM_ZERO(ctx, volume, d->n_parts));
    TRY(MEM_ZERO(ctx, size, d->n_parts));
    for (int64_t i = 0; i < d->n; i++)
        if (d->part[i] >= 0) {
            volume[d->part[i]] += d->degree[i];
            size[d->part[i]]++;
        }
    *any = false;
    for (int64_t i = 0; i < d->n; i++) {
        int32_t c = d->part[i];
        sound[i] = c < 0 || d->degree[i] >= FAINT * (volume[c] / (double)size[c]);
        *any |= !sound[i];
    }
done:
    MEM_FREE(ctx, size, volume);
    return status;
}

ddsc_status embed_rows(ddsc_context *ctx, double *rows, double *length, int64_t width,
                       decomposition *d, int64_t k, bool paper)
{
    ddsc_status status = DDSC_OK;
    const eigen_result *e = &d->eigen;
    double *weight = NULL;
    uint8_t *sound = NULL;
    bool faint;
    TRY(MEM_NEW(ctx, weight, width));
    TRY(MEM_NEW(ctx, sound, d->n));
    double p = paper ? 0 : solve_power(e->value, width, (double)k);
    /* If fewer than K eigenvalues are positive (few items and K close to N), no weights give K
     * dimensions, so the first K eigenvectors are used without weights. */
    bool few = dimension(e->value, width, 0) < (double)k;
    for (int64_t j = 0; j < width; j++) {
        double lambda = fmin(fmax(e->value[j], 0), 1);
        weight[j] = paper ? 1 : few ? j < k : lambda > 0 ? pow(lambda, p) : 0;
    }
    for (int64_t i = 0; i < d->n; i++) {
        for (int64_t j = 0; j < width; j++)
            rows[i * width + j] = weight[j] * e->vector[i * e->k + j];
        length[i] = normalize(rows + i * width, width);
    }
    TRY(mark_faint(ctx, sound, &faint, d));
    for (int64_t i = 0; i < d->n; i++)
        length[i] = sound[i] ? length[i] : 0;
    if (faint) {
        TRY(sparse_gather(ctx, &d->a));
        recompute_faint(rows, width, d, sound);
    }
done:
    MEM_FREE(ctx, sound, weight);
    return status;
}
