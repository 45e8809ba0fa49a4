/* Computes distances between items, and scores of labels. */
#include "calls.h"

/* Without columns, returns the distances between the items of `rows`, in the order of a dist
 * object. With columns, returns a matrix with one row per item of `rows` and one column per item of
 * `columns`. */
SEXP r_distance(SEXP run, SEXP rows, SEXP columns, SEXP list, SEXP squared)
{
    handle *one = handle_get(rows), *other = Rf_isNull(columns) ? NULL : handle_get(columns);
    SEXP own = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(own);
    unsigned flags = Rf_asLogical(squared) == TRUE ? DDSC_DISTANCE_SQUARED : 0;
    ddsc_measures_view a, b;
    settings_fill(&h->settings, list);
    ddsc_measures_get_view(one->set, &a);
    double n = (double)a.n_items;
    SEXP out;
    if (other) {
        ddsc_measures_get_view(other->set, &b);
        /* The library writes the matrix row by row, but R stores it column by column. */
        out = PROTECT(Rf_allocMatrix(REALSXP, (int)b.n_items, (int)a.n_items));
        h->status = ddsc_cross_run(h->ctx, REAL(out), NULL, one->set, other->set,
                                   &h->settings.metric, flags);
    } else {
        out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n * (n - 1) / 2)));
        h->status = ddsc_distance_run(h->ctx, REAL(out), NULL, one->set, &h->settings.metric,
                                      flags | DDSC_DISTANCE_CONDENSED);
    }
    SEXP answer = handle_answer(h, out);
    UNPROTECT(2);
    return answer;
}

SEXP r_scores(SEXP run, SEXP labels, SEXP truth)
{
    SEXP own = PROTECT(handle_new(run, NULL, R_NilValue));
    handle *h = handle_get(own);
    ddsc_scores scores;
    ddsc_scores_init(&scores);
    h->status =
        ddsc_scores_run(h->ctx, &scores, Rf_xlength(labels), INTEGER(labels), INTEGER(truth));
    SEXP values = PROTECT(Rf_allocVector(REALSXP, 4));
    REAL(values)[0] = scores.ami;
    REAL(values)[1] = scores.ari;
    REAL(values)[2] = scores.nmi;
    REAL(values)[3] = scores.purity;
    SEXP answer = handle_answer(h, values);
    UNPROTECT(2);
    return answer;
}
