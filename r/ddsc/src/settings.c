/* Maps the names of settings in R to the fields of the library's structs. */
#include <string.h>

#include "calls.h"

typedef struct choice {
    const char *name;
    int value;
} choice;

typedef enum kind { FIELD_INT, FIELD_INT64, FIELD_NUMBER, FIELD_TEXT } kind;

typedef struct field {
    const char *name;
    kind kind;
    size_t offset;
    const choice *choices; /* NULL: not a choice */
} field;

#define END     \
    {           \
        NULL, 0 \
    }
static const choice metrics[] = {
    {"w2", DDSC_METRIC_W2},   {"w1", DDSC_METRIC_W1},   {"sinkhorn", DDSC_METRIC_SINKHORN},
    {"mmd", DDSC_METRIC_MMD}, {"lot", DDSC_METRIC_LOT}, END};
static const choice costs[] = {
    {"sqeuclidean", DDSC_COST_SQEUCLIDEAN}, {"euclidean", DDSC_COST_EUCLIDEAN},
    {"cosine", DDSC_COST_COSINE},           {"cityblock", DDSC_COST_CITYBLOCK},
    {"matrix", DDSC_COST_MATRIX},           END};
static const choice sinkhorn_values[] = {{"regularized", DDSC_SINKHORN_REGULARIZED},
                                         {"sharp", DDSC_SINKHORN_SHARP},
                                         {"debiased", DDSC_SINKHORN_DEBIASED},
                                         {"paper", DDSC_SINKHORN_PAPER},
                                         END};
static const choice kernels[] = {{"gaussian", DDSC_KERNEL_GAUSSIAN},
                                 {"laplace", DDSC_KERNEL_LAPLACE},
                                 {"energy", DDSC_KERNEL_ENERGY},
                                 END};
static const choice bandwidths[] = {{"auto", DDSC_BANDWIDTH_AUTO},
                                    {"near", DDSC_BANDWIDTH_NEAR},
                                    {"median", DDSC_BANDWIDTH_MEDIAN},
                                    {"value", DDSC_BANDWIDTH_VALUE},
                                    END};
static const choice estimators[] = {
    {"auto", DDSC_MMD_AUTO}, {"unbiased", DDSC_MMD_UNBIASED}, {"biased", DDSC_MMD_BIASED}, END};
static const choice references[] = {{"auto", DDSC_REFERENCE_AUTO},
                                    {"normal", DDSC_REFERENCE_NORMAL},
                                    {"kmeans", DDSC_REFERENCE_KMEANS},
                                    END};
static const choice neighbors[] = {{"auto", DDSC_NEIGHBORS_AUTO},
                                   {"exact", DDSC_NEIGHBORS_EXACT},
                                   {"approximate", DDSC_NEIGHBORS_APPROXIMATE},
                                   END};
static const choice hubs[] = {
    {"auto", DDSC_HUBS_AUTO}, {"off", DDSC_HUBS_OFF}, {"always", DDSC_HUBS_ALWAYS}, END};
static const choice refinements[] = {
    {"auto", DDSC_REFINE_AUTO}, {"off", DDSC_REFINE_OFF}, {"words", DDSC_REFINE_WORDS}, END};
static const choice gammas[] = {{"auto", DDSC_GAMMA_AUTO},
                                {"local", DDSC_GAMMA_LOCAL},
                                {"median", DDSC_GAMMA_MEDIAN},
                                {"value", DDSC_GAMMA_VALUE},
                                END};
static const choice normalizations[] = {{"none", DDSC_NORMALIZE_NONE},
                                        {"standard", DDSC_NORMALIZE_STANDARD},
                                        {"robust", DDSC_NORMALIZE_ROBUST},
                                        {"rank", DDSC_NORMALIZE_RANK},
                                        END};
static const choice aligns[] = {{"none", DDSC_ALIGN_NONE},           {"center", DDSC_ALIGN_CENTER},
                                {"size", DDSC_ALIGN_SIZE},           {"deskew", DDSC_ALIGN_DESKEW},
                                {"principal", DDSC_ALIGN_PRINCIPAL}, END};
static const choice images[] = {
    {"pixels", DDSC_IMAGE_PIXELS}, {"ink", DDSC_IMAGE_INK}, {"colors", DDSC_IMAGE_COLORS}, END};
static const choice empties[] = {{"error", DDSC_EMPTY_ERROR}, {"drop", DDSC_EMPTY_DROP}, END};

#define AT(part) offsetof(settings, part)
static const field fields[] = {
    {"metric", FIELD_INT, AT(metric.metric), metrics},
    {"cost", FIELD_INT64, AT(metric.cost), costs},
    {"epsilon", FIELD_NUMBER, AT(metric.epsilon), NULL},
    {"epsilon_is_percent", FIELD_INT, AT(metric.epsilon_is_percent), NULL},
    {"sinkhorn_value", FIELD_INT, AT(metric.sinkhorn_value), sinkhorn_values},
    {"tolerance", FIELD_NUMBER, AT(metric.sinkhorn_tolerance), NULL},
    {"max_iterations", FIELD_INT64, AT(metric.sinkhorn_max_iterations), NULL},
    {"mmd_kernel", FIELD_INT, AT(metric.mmd_kernel), kernels},
    {"bandwidth_rule", FIELD_INT, AT(metric.bandwidth_rule), bandwidths},
    {"bandwidth", FIELD_NUMBER, AT(metric.bandwidth), NULL},
    {"mmd_estimator", FIELD_INT, AT(metric.mmd_estimator), estimators},
    {"mmd_features", FIELD_INT64, AT(metric.mmd_features), NULL},
    {"reference", FIELD_INT, AT(metric.reference_rule), references},
    {"reference_size", FIELD_INT64, AT(metric.reference_size), NULL},
    {"lot_components", FIELD_INT64, AT(metric.lot_components), NULL},
    {"paper_metric", FIELD_INT64, AT(metric.paper), NULL},
    {"n_neighbors", FIELD_INT64, AT(graph.tau), NULL},
    {"neighbors", FIELD_INT, AT(graph.neighbors), neighbors},
    {"hubs", FIELD_INT64, AT(graph.hubs), hubs},
    {"sample", FIELD_NUMBER, AT(graph.sample), NULL},
    {"sample_columns", FIELD_NUMBER, AT(graph.sample_columns), NULL},
    {"k_min", FIELD_INT64, AT(cluster.k_min), NULL},
    {"k_max", FIELD_INT64, AT(cluster.k_max), NULL},
    {"gamma_rule", FIELD_INT, AT(cluster.gamma_rule), gammas},
    {"gamma", FIELD_NUMBER, AT(cluster.gamma), NULL},
    {"min_cluster", FIELD_NUMBER, AT(cluster.min_cluster), NULL},
    {"restarts", FIELD_INT64, AT(cluster.kmeans_restarts), NULL},
    {"refine", FIELD_INT64, AT(cluster.refine), refinements},
    {"joined", FIELD_INT64, AT(cluster.joined), NULL},
    {"paper", FIELD_INT, AT(cluster.paper), NULL},
    {"arcsinh", FIELD_TEXT, AT(transform.arcsinh), NULL},
    {"logicle", FIELD_TEXT, AT(transform.logicle), NULL},
    {"batch", FIELD_TEXT, AT(transform.batch), NULL},
    {"log1p", FIELD_INT, AT(transform.log1p), NULL},
    {"normalize", FIELD_INT, AT(transform.normalize), normalizations},
    {"pca", FIELD_INT64, AT(transform.pca), NULL},
    {"per_item", FIELD_INT64, AT(transform.per_item), NULL},
    {"align", FIELD_INT, AT(transform.align), aligns},
    {"on_empty", FIELD_INT, AT(read.on_empty), empties},
    {"labels", FIELD_TEXT, AT(read.labels_path), NULL},
    {"channels", FIELD_TEXT, AT(read.channels), NULL},
    {"id", FIELD_TEXT, AT(read.id_columns), NULL},
    {"weight", FIELD_TEXT, AT(read.weight_column), NULL},
    {"label", FIELD_TEXT, AT(read.label_column), NULL},
    {"type", FIELD_TEXT, AT(read.type_column), NULL},
    {"where", FIELD_TEXT, AT(read.where), NULL},
    {"columns", FIELD_TEXT, AT(read.columns), NULL},
    {"drop", FIELD_TEXT, AT(read.drop), NULL},
    {"meta", FIELD_TEXT, AT(read.meta_path), NULL},
    {"item_columns", FIELD_TEXT, AT(read.item_columns), NULL},
    {"matrix", FIELD_TEXT, AT(read.matrix), NULL},
    {"as", FIELD_INT, AT(read.image_as), images},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static const field *field_of(const char *name)
{
    for (int i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

void settings_fill(settings *set, SEXP list)
{
    ddsc_metric_settings_init(&set->metric);
    ddsc_graph_settings_init(&set->graph);
    ddsc_cluster_settings_init(&set->cluster);
    ddsc_transform_settings_init(&set->transform);
    ddsc_read_settings_init(&set->read);
    set->cluster.metric = &set->metric;
    set->cluster.graph = &set->graph;
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(list); i++) {
        const char *name = CHAR(STRING_ELT(names, i));
        SEXP value = VECTOR_ELT(list, i);
        if (strcmp(name, "cost_matrix") == 0) {
            set->metric.cost_matrix = REAL(value);
            set->metric.cost_size = Rf_nrows(value);
            continue;
        }
        const field *f = field_of(name);
        if (!f)
            Rf_error("there is no setting '%s'", name);
        void *at = (char *)set + f->offset;
        switch (f->kind) {
        case FIELD_INT: *(int *)at = Rf_asInteger(value); break;
        case FIELD_INT64: *(int64_t *)at = (int64_t)Rf_asReal(value); break;
        case FIELD_NUMBER: *(double *)at = Rf_asReal(value); break;
        case FIELD_TEXT: *(const char **)at = Rf_translateCharUTF8(STRING_ELT(value, 0)); break;
        }
    }
    set->graph.paper = set->cluster.paper;
    if (set->cluster.paper)
        set->metric.paper = 1;
}

/* Returns a named integer vector with the codes of the choices. */
static SEXP choices_of(const choice *choices)
{
    int n = 0;
    while (choices[n].name)
        n++;
    SEXP codes = PROTECT(Rf_allocVector(INTSXP, n));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        INTEGER(codes)[i] = choices[i].value;
        SET_STRING_ELT(names, i, string_of(choices[i].name));
    }
    Rf_setAttrib(codes, R_NamesSymbol, names);
    UNPROTECT(2);
    return codes;
}

SEXP r_choices(void)
{
    const char *names[N_FIELDS];
    int n = 0;
    for (int i = 0; i < N_FIELDS; i++)
        if (fields[i].choices)
            names[n++] = fields[i].name;
    SEXP list = named_list(n, names);
    for (int i = 0, k = 0; i < N_FIELDS; i++)
        if (fields[i].choices)
            SET_VECTOR_ELT(list, k++, choices_of(fields[i].choices));
    UNPROTECT(1);
    return list;
}
