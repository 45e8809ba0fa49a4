/* Computes new centers. First, the points of the old center move to their optimal positions. Then
 * the method proposes a center, starting from the moved one, and the points of the proposal are
 * moved in the same way. The proposal is accepted only if its cost under exact plans is not higher,
 * so the cost of a cluster never increases. */
#include "cluster/baseline/d2.h"

#include <math.h>

/* Computes optimal plans and moves the points. Sets cost[c] to an upper bound on the cluster's cost
 * after the move. */
static ddsc_status exact_move(d2_run *r, double *cost)
{
    fit *f = &r->f;
    CHECK(fit_exact_pass(f, r->next_value));
    for (int64_t c = 0; c < f->c.k; c++) {
        double gain = 0;
        CHECK(fit_move(f, c, &gain));
        cost[c] = sum_extra(f, f->sum + c * f->slot)[0] - gain;
    }
    return DDSC_OK;
}

/* For clusters whose cost under exact plans did not decrease, restores the center from `moved` and
 * shortens the next step. Doubles the step of the other clusters, up to D2_FIRST_STEP. */
static void judge_weights(d2_run *r, double *step)
{
    fit *f = &r->f;
    for (int64_t c = 0; c < f->c.k; c++) {
        bool gained = r->proposed[c] < r->least[c];
        if (!gained)
            center_copy(&f->c, &r->moved, c);
        step[c] = gained ? fmin(2 * step[c], D2_FIRST_STEP) : step[c] / 4;
    }
}

static void take_costs(const d2_run *r, double *cost)
{
    for (int64_t c = 0; c < r->f.c.k; c++)
        cost[c] = sum_extra(&r->f, r->f.sum + c * r->f.slot)[0];
}

ddsc_status d2run_polish(d2_run *r, double *step)
{
    fit *f = &r->f;
    fit_group(f, r->label);
    centers_copy(&r->before, &f->c);
    CHECK(exact_move(r, r->least));
    CHECK(fit_exact_pass(f, r->next_value));
    take_costs(r, r->least);
    centers_copy(&r->moved, &f->c);
    for (int64_t c = 0; c < f->c.k; c++)
        fit_step_weights(f, c, step[c]);
    CHECK(fit_exact_pass(f, r->next_value));
    take_costs(r, r->proposed);
    judge_weights(r, step);
    return DDSC_OK;
}

ddsc_status d2run_update(d2_run *r)
{
    fit *f = &r->f;
    int64_t done = 0;
    bool settled;
    fit_group(f, r->label);
    centers_copy(&r->before, &f->c);
    if (!r->method->judged)
        return r->method->run(r->state, r->set->max_rounds, &done, &settled);
    CHECK(exact_move(r, r->least));
    centers_copy(&r->moved, &f->c);
    CHECK(r->method->run(r->state, r->set->max_rounds, &done, &settled));
    CHECK(exact_move(r, r->proposed));
    for (int64_t c = 0; c < f->c.k; c++)
        if (!(r->proposed[c] <= r->least[c]))
            center_copy(&f->c, &r->moved, c);
    return DDSC_OK;
}
