/* New centres. A proposal takes the place of the old centre only where exact transport finds its
 * cost, after one move of the points to the means of their plans, no higher; otherwise the old
 * centre makes that move. Either way the cost cannot rise. */
#include <string.h>

#include "baseline/d2.h"

static double cluster_cost(const d2_run *r, int64_t c)
{
    const groups *g = &r->f.g;
    double sum = 0;
    for (int64_t p = g->begin[c]; p < g->begin[c + 1]; p++)
        sum += r->value[g->item[p]];
    return sum;
}

static ddsc_status judge_proposals(d2_run *r)
{
    ddsc_status status = DDSC_OK;
    fit *f = &r->f;
    bool all = true;
    TRY(exact_pass(f, r->next_value, NULL));
    for (int64_t c = 0; c < f->c.k; c++) {
        double cost = sum_extra(f, f->sum + c * f->slot)[0];
        cost -= fit_move(f, c);
        r->better[c] = cost <= cluster_cost(r, c);
        all = all && r->better[c];
        if (!r->better[c])
            centre_copy(&f->c, &r->before, c);
    }
    if (all)
        goto done;
    TRY(exact_pass(f, r->next_value, r->better));
    for (int64_t c = 0; c < f->c.k; c++)
        if (!r->better[c])
            fit_move(f, c);
done:
    return status;
}

ddsc_status d2_update(d2_run *r)
{
    ddsc_status status = DDSC_OK;
    int64_t done = 0;
    bool settled;
    fit_group(&r->f, r->label);
    centres_copy(&r->before, &r->f.c);
    TRY(r->method->run(r->state, r->set->barycenter.max_rounds, &done, &settled));
    if (r->method->judged)
        TRY(judge_proposals(r));
done:
    return status;
}
