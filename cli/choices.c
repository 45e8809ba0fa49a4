/* Defines the choices that several options share, in the order of the help. */
#include "options.h"

const option_choice choices_metric[] = {
    {"w2", DDSC_METRIC_W2},   {"w1", DDSC_METRIC_W1},   {"sinkhorn", DDSC_METRIC_SINKHORN},
    {"mmd", DDSC_METRIC_MMD}, {"lot", DDSC_METRIC_LOT}, {NULL, 0}};
const option_choice choices_cost[] = {{"sqeuclidean", DDSC_COST_SQEUCLIDEAN},
                                      {"euclidean", DDSC_COST_EUCLIDEAN},
                                      {"cosine", DDSC_COST_COSINE},
                                      {"cityblock", DDSC_COST_CITYBLOCK},
                                      {NULL, 0}};
const option_choice choices_sinkhorn[] = {{"regularized", DDSC_SINKHORN_REGULARIZED},
                                          {"sharp", DDSC_SINKHORN_SHARP},
                                          {"debiased", DDSC_SINKHORN_DEBIASED},
                                          {"paper", DDSC_SINKHORN_PAPER},
                                          {NULL, 0}};
const option_choice choices_kernel[] = {{"gaussian", DDSC_KERNEL_GAUSSIAN},
                                        {"laplace", DDSC_KERNEL_LAPLACE},
                                        {"energy", DDSC_KERNEL_ENERGY},
                                        {NULL, 0}};
const option_choice choices_estimator[] = {{"auto", DDSC_MMD_AUTO},
                                           {"unbiased", DDSC_MMD_UNBIASED},
                                           {"biased", DDSC_MMD_BIASED},
                                           {NULL, 0}};
const option_choice choices_exact_graph[] = {
    {"auto", DDSC_GRAPH_AUTO}, {"full", DDSC_GRAPH_FULL}, {"pruned", DDSC_GRAPH_PRUNED}, {NULL, 0}};
const option_choice choices_hubs[] = {
    {"auto", DDSC_HUBS_AUTO}, {"off", DDSC_HUBS_OFF}, {"always", DDSC_HUBS_ALWAYS}, {NULL, 0}};
const option_choice choices_refine[] = {
    {"auto", DDSC_REFINE_AUTO}, {"off", DDSC_REFINE_OFF}, {"words", DDSC_REFINE_WORDS}, {NULL, 0}};
const option_choice choices_neighbors[] = {{"auto", DDSC_NEIGHBORS_AUTO},
                                           {"exact", DDSC_NEIGHBORS_EXACT},
                                           {"approximate", DDSC_NEIGHBORS_APPROXIMATE},
                                           {NULL, 0}};
const option_choice choices_method[] = {{"ddsc", METHOD_DDSC}, {"kmeans", METHOD_KMEANS},
                                        {"sc", METHOD_SC},     {"d2", METHOD_D2},
                                        {"pd2", METHOD_PD2},   {NULL, 0}};
const option_choice choices_barycenter[] = {
    {"admm", DDSC_BARYCENTER_ADMM}, {"ibp", DDSC_BARYCENTER_IBP}, {NULL, 0}};
const option_choice choices_vectors[] = {{"auto", DDSC_VECTORS_AUTO},
                                         {"histogram", DDSC_VECTORS_HISTOGRAM},
                                         {"mean", DDSC_VECTORS_MEAN},
                                         {NULL, 0}};
const option_choice choices_on_empty[] = {
    {"error", DDSC_EMPTY_ERROR}, {"drop", DDSC_EMPTY_DROP}, {NULL, 0}};
