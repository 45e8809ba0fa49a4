/* Converts scores to memberships, and fits the softness. */
#include "cluster/spectral/membership.h"

#include <math.h>

/* Number of steps of the golden-section search. The last interval is less than 1e-3 of the
 * first. */
enum { STEPS = 30 };
static const double GOLDEN = 0.6180339887498949;

int32_t membership_best(const double *score, int64_t k)
{
    int32_t best = 0;
    for (int32_t c = 1; c < k; c++)
        best = score[c] > score[best] ? c : best;
    return best;
}

void membership_soften(double *score, int64_t k, double softness)
{
    double most = score[membership_best(score, k)], sum = 0;
    for (int64_t c = 0; c < k; c++)
        sum += score[c] = exp((score[c] - most) / softness);
    for (int64_t c = 0; c < k; c++)
        score[c] /= sum;
}

void membership_favor(double *membership, int64_t k, int32_t label)
{
    int32_t best = membership_best(membership, k);
    double most = membership[best];
    membership[best] = membership[label];
    membership[label] = most;
}

bool membership_holds(const double *membership, int64_t n, int64_t k)
{
    bool holds = invariant_between(membership, n * k, 0, 1 + 0x1p-30);
    for (int64_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t c = 0; c < k; c++)
            total += membership[i * k + c];
        holds &= fabs(total - 1) <= 0x1p-30;
    }
    return holds;
}

ddsc_status membership_create_held_out(ddsc_context *ctx, held_out *h, int64_t most, int64_t k)
{
    int64_t cells;
    *h = (held_out){.k = k};
    if (!mul_ok(most, k, &cells))
        return ctx_fail(
            ctx, DDSC_ERROR_MEMORY,
            "memberships: the product of the numbers of items and clusters is too large");
    CHECK(MEM_NEW(ctx, h->score, cells));
    return MEM_NEW(ctx, h->observed, most);
}

void membership_free_held_out(ddsc_context *ctx, held_out *h)
{
    MEM_FREE(ctx, h->score, h->observed);
    *h = (held_out){0};
}

/* Returns minus the log of the membership of cluster c. */
static double surprise(const double *score, int64_t k, int32_t c, double softness)
{
    double most = score[membership_best(score, k)], sum = 0;
    for (int64_t a = 0; a < k; a++)
        sum += exp((score[a] - most) / softness);
    return log(sum) - (score[c] - most) / softness;
}

/* Returns the mean surprise over the observed clusters. One additional observation, spread evenly
 * over all clusters, keeps the softness positive even if every cluster was predicted correctly. The
 * mean is convex in 1 / softness. */
static double mean_surprise(const held_out *h, double softness)
{
    double sum = 0;
    for (int64_t i = 0; i < h->n; i++)
        sum += surprise(h->score + i * h->k, h->k, h->observed[i], softness);
    for (int32_t c = 0; c < h->k; c++)
        if (h->score[c] > -INFINITY)
            sum += surprise(h->score, h->k, c, softness) / (double)h->k;
    return sum / (double)(h->n + 1);
}

static void describe_fit(ddsc_membership_report *report, const held_out *h)
{
    report->n_held_out = h->n;
    report->confidence = report->agreement = 0;
    for (int64_t i = 0; i < h->n; i++) {
        const double *score = h->score + i * h->k;
        int32_t best = membership_best(score, h->k);
        report->confidence += exp(-surprise(score, h->k, best, report->softness)) / (double)h->n;
        report->agreement += (best == h->observed[i]) / (double)h->n;
    }
}

void membership_fit(ddsc_membership_report *report, const held_out *h, double low, double high)
{
    double a = log(low), b = log(high);
    if (h->n == 0)
        return;
    double left = b - GOLDEN * (b - a), right = a + GOLDEN * (b - a);
    double at_left = mean_surprise(h, exp(left)), at_right = mean_surprise(h, exp(right));
    for (int step = 0; step < STEPS; step++) {
        if (at_left <= at_right) {
            b = right;
            right = left;
            at_right = at_left;
            left = b - GOLDEN * (b - a);
            at_left = mean_surprise(h, exp(left));
        } else {
            a = left;
            left = right;
            at_left = at_right;
            right = a + GOLDEN * (b - a);
            at_right = mean_surprise(h, exp(right));
        }
    }
    report->softness = exp((a + b) / 2);
    describe_fit(report, h);
}
