/* Wrappers of the calls that take problem and result structs, with separate arguments, so that
 * tests can try every combination of NULL arguments. */
#ifndef DDSC_TEST_CALLS_H
#define DDSC_TEST_CALLS_H

#include "ddsc/ddsc.h"

ddsc_status call_emd(ddsc_context *ctx, ddsc_transport *result, int32_t *plan_row,
                     int32_t *plan_column, double *plan_mass, double *f, double *g, int64_t n,
                     int64_t m, const double *a, const double *b, const double *cost);
ddsc_status call_w2(ddsc_context *ctx, ddsc_transport *result, int32_t *plan_row,
                    int32_t *plan_column, double *plan_mass, double *f, double *g,
                    const ddsc_measures *x, int64_t i, const ddsc_measures *y, int64_t j);
ddsc_status call_sinkhorn(ddsc_context *ctx, double *value, ddsc_transport *result, double *plan,
                          double *f, double *g, int64_t n, int64_t m, const double *a,
                          const double *b, const double *cost, double epsilon,
                          ddsc_sinkhorn_value which, double tolerance, int64_t max_iterations);
ddsc_status call_assign(ddsc_context *ctx, int32_t *labels, double *confidence, double *distance,
                        int32_t *far, ddsc_pair_stats *stats, const ddsc_model *model,
                        const ddsc_measures *measures, const ddsc_assign_settings *settings);
ddsc_status call_extend(ddsc_context *ctx, double *rows, int32_t *labels, ddsc_pair_stats *stats,
                        const ddsc_model *model, const ddsc_measures *measures,
                        const ddsc_assign_settings *settings);
ddsc_status call_theory(ddsc_context *ctx, ddsc_theory *theory, int64_t *item_intra,
                        int64_t *item_inter, double *item_xi, const ddsc_graph *graph,
                        const int32_t *truth, const ddsc_cluster_settings *settings);
ddsc_status call_standing(ddsc_context *ctx, double *distance, double *ambiguity, int32_t *next,
                          int64_t n, int64_t dim, const double *rows, const int32_t *labels,
                          int64_t k);
ddsc_status make_shared(ddsc_context *ctx, ddsc_measures **measures, int64_t n_items,
                        int64_t n_support, int64_t dim, const double *support,
                        const int64_t *offsets, const int32_t *indices, const double *weights,
                        ddsc_on_empty on_empty);

#endif
