/* New centres. The old centre's points move to the means of what they send their mass to; the
 * method goes on from there, and its proposal, moved likewise, counts only where the cost is no
 * higher by exact plans. Either way the cost of a cluster cannot rise. */
#include "baseline/d2.h"

/* Optimal plans, then the move; cost[c] is what the cluster costs at most afterwards. */
static ddsc_status exact_move(d2_run *r, double *cost)
{
    fit *f = &r->f;
    ddsc_status status = exact_pass(f, r->next_value);
    for (int64_t c = 0; status >= 0 && c < f->c.k; c++)
        cost[c] = sum_extra(f, f->sum + c * f->slot)[0] - fit_move(f, c);
    return status;
}

ddsc_status d2_update(d2_run *r)
{
    ddsc_status status = DDSC_OK;
    fit *f = &r->f;
    int64_t done = 0;
    bool settled;
    fit_group(f, r->label);
    centres_copy(&r->before, &f->c);
    if (!r->method->judged)
        return r->method->run(r->state, r->set->barycenter.max_rounds, &done, &settled);
    TRY(exact_move(r, r->least));
    centres_copy(&r->moved, &f->c);
    TRY(r->method->run(r->state, r->set->barycenter.max_rounds, &done, &settled));
    TRY(exact_move(r, r->proposed));
    for (int64_t c = 0; c < f->c.k; c++)
        if (!(r->proposed[c] <= r->least[c]))
            centre_copy(&f->c, &r->moved, c);
done:
    return status;
}
