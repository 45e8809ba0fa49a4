/* Defines the effect of the setting `paper`. Each feature that the paper does not have has an entry
 * in `rules`: its default, the paper's value, and the reason. `ddsc help paper` prints the
 * table. */
#include "base/paper.h"

#include <string.h>

typedef enum paper_type { TYPE_NONE, TYPE_ENUM, TYPE_INT64, TYPE_DOUBLE } paper_type;

enum { ANY = -1 };

typedef struct paper_rule {
    paper_part part;
    int metric; /* the ddsc_metric that uses the setting, or ANY */
    paper_type type;
    const char *setting;
    size_t offset;
    double unset, value; /* the default; the paper's value */
    unsigned open;       /* bits of other enum values that the paper permits */
    const char *name, *why;
} paper_rule;

#define CLUSTER(field) #field, offsetof(ddsc_cluster_settings, field)
#define METRIC(field) #field, offsetof(ddsc_metric_settings, field)
#define GRAPH(field) #field, offsetof(ddsc_graph_settings, field)
#define TEXT(field) #field, offsetof(ddsc_text_settings, field)
#define BIT(value) (1u << (value))

/* clang-format off: one rule per line */
static const paper_rule rules[] = {
    {PAPER_METRIC, DDSC_METRIC_MMD, TYPE_ENUM, METRIC(mmd_estimator), DDSC_MMD_AUTO,
     DDSC_MMD_UNBIASED, 0, "unbiased", "the printed estimator omits the terms i = j"},
    {PAPER_METRIC, DDSC_METRIC_MMD, TYPE_ENUM, METRIC(bandwidth_rule), DDSC_BANDWIDTH_AUTO,
     DDSC_BANDWIDTH_NEAR, BIT(DDSC_BANDWIDTH_MEDIAN) | BIT(DDSC_BANDWIDTH_VALUE), "near",
     "one rule for every dimension; the paper states no bandwidth, so another may be specified"},
    {PAPER_METRIC, DDSC_METRIC_MMD, TYPE_INT64, METRIC(mmd_features), 0, 0, 0, "0",
     "every pair is computed from all points"},
    {PAPER_METRIC, DDSC_METRIC_SINKHORN, TYPE_ENUM, METRIC(sinkhorn_value),
     DDSC_SINKHORN_REGULARIZED, DDSC_SINKHORN_PAPER, 0, "paper",
     "D = W_eps, so A = exp(-gamma W_eps^2); by default D is the root of W_eps"},
    {PAPER_METRIC, DDSC_METRIC_LOT, TYPE_ENUM, METRIC(reference_rule), DDSC_REFERENCE_AUTO,
     DDSC_REFERENCE_NORMAL, BIT(DDSC_REFERENCE_MEASURES), "normal",
     "X_0 is drawn from a normal distribution; a file may provide another X_0"},
    {PAPER_METRIC, DDSC_METRIC_LOT, TYPE_INT64, METRIC(reference_size), 0, 0, 0, "0",
     "X_0 has m_0 points, the mean number of points per item"},
    {PAPER_METRIC, DDSC_METRIC_LOT, TYPE_INT64, METRIC(lot_components), 0, 0, 0, "0",
     "the whole embedding is used"},
    {PAPER_GRAPH, ANY, TYPE_INT64, GRAPH(hubs), DDSC_HUBS_DEFAULT, DDSC_HUBS_OFF, 0, "off",
     "neighbors are chosen by the distance D itself"},
    {PAPER_GRAPH, ANY, TYPE_ENUM, GRAPH(neighbors), DDSC_NEIGHBORS_AUTO, DDSC_NEIGHBORS_EXACT, 0,
     "exact", "the largest tau entries of each column are exact for any N"},
    {PAPER_GRAPH, ANY, TYPE_DOUBLE, GRAPH(sample_columns), 1, 1, 0, "1",
     "the paper's incomplete matrix contains random pairs, not whole columns"},
    {PAPER_STEP, ANY, TYPE_NONE, "sample", 0, 0, 0, 0, "missing pairs stay missing",
     "a pair that was not computed is not an edge; by default, its distance is estimated"},
    {PAPER_CLUSTER, ANY, TYPE_ENUM, CLUSTER(gamma_rule), DDSC_GAMMA_AUTO, DDSC_GAMMA_MEDIAN,
     BIT(DDSC_GAMMA_VALUE), "median",
     "one gamma for all pairs; by default each item has its own scale"},
    {PAPER_CLUSTER, ANY, TYPE_DOUBLE, CLUSTER(min_cluster), 0.2, 0, 0, "0",
     "small clusters are not merged, and small components are not excluded"},
    {PAPER_CLUSTER, ANY, TYPE_INT64, CLUSTER(joined), 0, 0, 0, "0", "one distance per clustering"},
    {PAPER_STEP, ANY, TYPE_NONE, "support of documents", 0, 0, 0, 0, "16",
     "every document is reduced to 16 points; by default, only those with more than 32 words"},
    {PAPER_STEP, ANY, TYPE_NONE, "tau of documents", 0, 0, 0, 0, "max(10, log2 N)",
     "the default tau is the same for all data; otherwise, documents have at least 20 or 28 "
     "neighbors by default"},
    {PAPER_CLUSTER, ANY, TYPE_INT64, CLUSTER(refine), DDSC_REFINE_AUTO, DDSC_REFINE_OFF, 0, "off",
     "k-means determines the labels; by default, the word counts of documents refine them"},
    {PAPER_STEP, ANY, TYPE_NONE, "embedding", 0, 0, 0, 0, "K eigenvectors",
     "rows of V_K with equal weights; by default, more vectors are used, with smaller weights"},
    {PAPER_TEXT, ANY, TYPE_ENUM, TEXT(words), DDSC_WORDS_FITTED, DDSC_WORDS_GENERAL, 0, "general",
     "the word vectors of the file are used unchanged"},
    {PAPER_TEXT, ANY, TYPE_ENUM, TEXT(tokens), DDSC_TOKENS_WORDS, DDSC_TOKENS_PUNCTUATION,
     BIT(DDSC_TOKENS_LETTERS), "punctuation",
     "words end at spaces and punctuation; for the Reuters set, words are runs of letters"},
    {PAPER_TEXT, ANY, TYPE_ENUM, TEXT(weighting), DDSC_WEIGHTING_AUTO, DDSC_WEIGHTING_TFIDF, 0,
     "tfidf", "TF-IDF weights, normalized per document"},
};
/* clang-format on */

enum { N_RULES = sizeof rules / sizeof *rules };

static double value_get(const paper_rule *r, const void *settings)
{
    const char *at = (const char *)settings + r->offset;
    int number;
    int64_t large;
    double real;
    switch (r->type) {
    case TYPE_ENUM: memcpy(&number, at, sizeof number); return number;
    case TYPE_INT64: memcpy(&large, at, sizeof large); return (double)large;
    case TYPE_DOUBLE: memcpy(&real, at, sizeof real); return real;
    case TYPE_NONE: break;
    }
    return r->value;
}

static void value_set(const paper_rule *r, void *settings)
{
    char *at = (char *)settings + r->offset;
    int number = (int)r->value;
    int64_t large = (int64_t)r->value;
    switch (r->type) {
    case TYPE_ENUM: memcpy(at, &number, sizeof number); break;
    case TYPE_INT64: memcpy(at, &large, sizeof large); break;
    case TYPE_DOUBLE: memcpy(at, &r->value, sizeof r->value); break;
    case TYPE_NONE: break;
    }
}

static bool permits(const paper_rule *r, double value)
{
    return value == r->value ||
           (r->type == TYPE_ENUM && value >= 0 && value < 32 && (r->open >> (int)value & 1));
}

ddsc_status paper_apply(ddsc_context *ctx, paper_part part, void *settings)
{
    int metric = part == PAPER_METRIC ? (int)((ddsc_metric_settings *)settings)->metric : ANY;
    for (int k = 0; k < N_RULES; k++) {
        const paper_rule *r = &rules[k];
        if (r->part != part || (r->metric != ANY && r->metric != metric))
            continue;
        double value = value_get(r, settings);
        if (value == r->unset)
            value_set(r, settings);
        else if (!permits(r, value))
            return ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                            "paper requires %s = %s (%s); omit this setting", r->setting, r->name,
                            r->why);
    }
    return DDSC_OK;
}

int ddsc_paper_get_rule(int64_t k, const char **setting, const char **value, const char **reason)
{
    if (k < 0 || k >= N_RULES || !setting || !value || !reason)
        return 0;
    *setting = rules[k].setting;
    *value = rules[k].name;
    *reason = rules[k].why;
    return 1;
}
