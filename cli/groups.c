/* The option groups. One word means one thing in every verb that has it. */
#include "options.h"
#include "pictures.h"

#define AT(field) offsetof(cli_options, field)
#define END          \
    {                \
        .name = NULL \
    }

static const option_choice choices_progress[] = {{"auto", PROGRESS_AUTO},
                                                 {"bar", PROGRESS_BAR},
                                                 {"jsonl", PROGRESS_JSONL},
                                                 {"none", PROGRESS_NONE},
                                                 {NULL, 0}};
const option_choice choices_format[] = {{"npz", DDSC_FORMAT_NPZ},
                                        {"csv", DDSC_FORMAT_CSV},
                                        {"tsv", DDSC_FORMAT_TSV},
                                        {"d2", DDSC_FORMAT_D2},
                                        {NULL, 0}};

/* ---- the groups ---- */

static const option_spec subset_options[] = {
    {.name = "subset-per-class",
     .kind = OPTION_COUNT,
     .offset = AT(subset_per_class),
     .minimum = 1,
     .argument = "N",
     .help = "use a random subset with N items of every class, drawn by --seed"},
    {.name = "compress",
     .kind = OPTION_COUNT,
     .offset = AT(compress),
     .minimum = 1,
     .argument = "M",
     .help = "merge each support down to M points first; the W2 error made is reported"},
    END};
const option_group group_subset = {"Less data", subset_options};

static const option_spec truth_options[] = {
    {.name = "truth",
     .kind = OPTION_FILE,
     .offset = AT(truth),
     .argument = "FILE",
     .help = "true classes to score against (default: the labels in the input, if any)"},
    END};
static const option_spec about_options[] = {
    {.name = "block",
     .kind = OPTION_TEXT,
     .offset = AT(block),
     .argument = "COLUMN",
     .help = "where columns of --meta are compared with the clusters, labels change places only "
             "within a value of this one (a patient, say)"},
    END};
const option_group group_about = {"What goes with the clusters", about_options};
const option_group group_truth = {"Scores", truth_options};

static const option_spec precomputed_options[] = {
    {.name = "precomputed",
     .kind = OPTION_FLAG,
     .offset = AT(precomputed),
     .help = "INPUT is a square distance matrix (npy or mtx); NaN means unknown"},
    {.name = "squared-input",
     .kind = OPTION_FLAG,
     .offset = AT(squared_input),
     .help = "that matrix holds squared distances"},
    END};
const option_group group_precomputed = {"Given distances", precomputed_options};

static const option_spec compare_options[] = {
    {.name = "clusters",
     .letter = 'k',
     .kind = OPTION_OTHER,
     .parse = value_clusters,
     .argument = "K|A:B|auto",
     .help = "number of clusters; a range or auto (default): the one that most metrics suggest"},
    {.name = "metrics",
     .kind = OPTION_OTHER,
     .parse = value_metrics,
     .argument = "LIST",
     .help = "those to compare, separated by commas (default: w2,sinkhorn,mmd,lot)"},
    END};
const option_group group_compare = {"Comparison", compare_options};

#define METRIC AT(metric.metric)
static const option_spec metric_options[] = {
    {.name = "metric",
     .letter = 'm',
     .kind = OPTION_CHOICE,
     .offset = METRIC,
     .choices = choices_metric,
     .help = "exact Wasserstein with squared (default) or plain distances, entropic transport, "
             "maximum mean discrepancy, or linear optimal transport; cluster also joins several by "
             "+ (w2+mmd+lot): the mean of their normalised affinities, seldom the best and seldom "
             "far from it"},
    {.name = "cost",
     .kind = OPTION_OTHER,
     .parse = value_cost,
     .argument = "sqeuclidean|euclidean|cosine|cityblock|FILE",
     .help = "what it costs to move mass between points: w2 takes sqeuclidean (default), cosine "
             "(squared distances of unit vectors) and FILE; w1 euclidean (default), cityblock and "
             "FILE; sinkhorn and --method d2 all; lot and pd2 sqeuclidean and cosine. FILE: a "
             "matrix (npy, csv); the coordinate of a point is its row"},
    {.name = "epsilon",
     .kind = OPTION_OTHER,
     .parse = value_epsilon,
     .argument = "X|X%",
     .help = "sinkhorn: entropy, absolute or in percent of the median cost (default: 5%)"},
    {.name = "sinkhorn-value",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.sinkhorn_value),
     .choices = choices_sinkhorn,
     .help = "sinkhorn: cost plus entropy term (default), cost alone, or the divergence that is "
             "0 for equal items"},
    {.name = "tolerance",
     .kind = OPTION_OTHER,
     .parse = value_tolerance,
     .argument = "X",
     .help = "sinkhorn: marginal error that counts as converged"},
    {.name = "max-iterations",
     .kind = OPTION_COUNT,
     .offset = AT(metric.sinkhorn_max_iterations),
     .minimum = 1,
     .argument = "N",
     .help = "sinkhorn: iterations of one pair before it counts as not converged"},
    {.name = "mmd-kernel",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.mmd_kernel),
     .choices = choices_kernel,
     .help = "mmd: the kernel (default: gaussian)"},
    {.name = "bandwidth",
     .kind = OPTION_OTHER,
     .parse = value_bandwidth,
     .argument = "auto|near|median|X",
     .help = "mmd: kernel width; near is the 5% quantile of the distances between points, auto "
             "(default) that or, where they are so much alike that their median is less than twice "
             "it (many dimensions), median"},
    {.name = "mmd-estimator",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.mmd_estimator),
     .choices = choices_estimator,
     .help = "mmd: the estimator; auto (default) is biased, with --paper unbiased"},
    {.name = "mmd-features",
     .kind = OPTION_COUNT,
     .offset = AT(metric.mmd_features),
     .minimum = 1,
     .argument = "L",
     .help = "mmd: approximate by L random Fourier features (gaussian, laplace), for items of "
             "thousands of points; the error on a sample of pairs is reported"},
    END};
const option_group group_metric = {"Metric", metric_options};
/* The same for a verb that has --metrics. */
const option_group group_metric_values = {"Metric", metric_options + 1};

static const option_spec reference_options[] = {
    {.name = "reference",
     .kind = OPTION_OTHER,
     .parse = value_reference,
     .argument = "auto|normal|kmeans|FILE",
     .help =
         "lot: what items are transported to: a normal sample like the data, k-means centres of "
         "all points, or the first item of FILE; auto (default): kmeans above three "
         "dimensions, normal up to three and with --paper"},
    {.name = "reference-size",
     .kind = OPTION_COUNT,
     .offset = AT(metric.reference_size),
     .minimum = 1,
     .argument = "M",
     .help = "lot: points of the reference (default: the mean support size)"},
    {.name = "lot-components",
     .kind = OPTION_COUNT,
     .offset = AT(metric.lot_components),
     .minimum = 1,
     .argument = "R",
     .help = "lot: keep R principal components of the embedding; the variance left out is "
             "reported (default: all of it)"},
    END};
const option_group group_reference = {"Linear optimal transport", reference_options};

static const option_spec graph_options[] = {
    {.name = "tau",
     .letter = 't',
     .kind = OPTION_COUNT,
     .offset = AT(graph.tau),
     .minimum = 1,
     .argument = "T",
     .help = "neighbours kept of each item (default: max(10, log2 N), fewer for small N; stated "
             "in the output)"},
    {.name = "exact-graph",
     .kind = OPTION_CHOICE,
     .offset = AT(graph.exact_graph),
     .choices = choices_exact_graph,
     .help = "compute every pair, or skip those that bounds rule out; the graph is the same"},
    {.name = "neighbors",
     .kind = OPTION_CHOICE,
     .offset = AT(graph.neighbors),
     .choices = choices_neighbors,
     .help = "exact up to 100,000 items (auto), always, or approximate: candidates ranked by the "
             "metric, with the share of true neighbours found measured and reported"},
    {.name = "hubs",
     .kind = OPTION_CHOICE,
     .offset = AT(hubs),
     .choices = choices_hubs,
     .help =
         "choose neighbours by a locally rescaled distance, so that no item is everybody's: where "
         "in-degrees are skewed (auto; default of cluster), never (off; default of neighbors and "
         "with --paper), or always"},
    {.name = "sample",
     .kind = OPTION_OTHER,
     .parse = value_sample,
     .argument = "P",
     .help = "compute only a random fraction P of the pairs (default: 1); cluster estimates the "
             "others from these where that works, except with --paper"},
    {.name = "sample-columns",
     .kind = OPTION_OTHER,
     .parse = value_sample_columns,
     .argument = "P",
     .help = "compute only the distances from a random fraction P of the items to all, and "
             "approximate the others from them (Nystrom)"},
    END};
const option_group group_graph = {"Neighbour graph", graph_options};

static const option_spec cluster_options[] = {
    {.name = "clusters",
     .letter = 'k',
     .kind = OPTION_OTHER,
     .parse = value_clusters,
     .argument = "K|A:B|auto",
     .help = "number of clusters, a sweep over A to B from one decomposition, or a choice by "
             "the data"},
    {.name = "method",
     .kind = OPTION_CHOICE,
     .offset = AT(method),
     .choices = choices_method,
     .help = "ddsc (default), or a baseline: k-means or spectral clustering of plain vectors, "
             "D2 or PD2 clustering around barycenters"},
    {.name = "gamma",
     .kind = OPTION_OTHER,
     .parse = value_gamma,
     .argument = "auto|local|median|X",
     .help =
         "affinity exp(-gamma D^2): local scaling, 1 / median of D^2 in the graph, or a number; "
         "auto (default): local, but median where a diffuse class leans on a dense one"},
    {.name = "min-cluster",
     .kind = OPTION_OTHER,
     .parse = value_min_cluster,
     .argument = "F",
     .help = "merge clusters smaller than F N/K into their nearest (default: 0.2; 0: never)"},
    {.name = "paper",
     .kind = OPTION_FLAG,
     .offset = AT(cluster.paper),
     .help = "the plain algorithm of the paper, without the rules for gamma and tiny groups"},
    {.name = "outliers",
     .kind = OPTION_FLAG,
     .offset = AT(outliers),
     .help = "items that lie apart from all others get the label -1 and count in no cluster "
             "(without it they are only marked in items.csv)"},
    {.name = "stability",
     .kind = OPTION_COUNT,
     .offset = AT(stability),
     .minimum = 1,
     .argument = "B",
     .help = "draw the points of every item anew B times, cluster again, and report what changes"},
    END};
const option_group group_cluster = {"Clustering", cluster_options};

static const option_spec baseline_options[] = {
    {.name = "vectors-from",
     .kind = OPTION_CHOICE,
     .offset = AT(vectors_from),
     .choices = choices_vectors,
     .help = "kmeans, sc: an item as its histogram over the support, or as the mean of its points "
             "(default: histogram where the support is shared)"},
    {.name = "barycenter",
     .kind = OPTION_CHOICE,
     .offset = AT(barycenter),
     .choices = choices_barycenter,
     .help = "d2: how centres are made, by Bregman ADMM (default) or entropic scaling"},
    {.name = "centre-size",
     .kind = OPTION_COUNT,
     .offset = AT(centre_size),
     .minimum = 1,
     .argument = "N",
     .help = "d2, pd2: points of a centre (default: the mean of the items)"},
    {.name = "restarts",
     .kind = OPTION_COUNT,
     .offset = AT(restarts),
     .minimum = 1,
     .argument = "R",
     .help = "k-means in any method, d2, pd2: starts, of which the best is kept (default: 30; d2 "
             "and pd2 3)"},
    END};
const option_group group_baseline = {"Baselines", baseline_options};

static const option_spec matrix_options[] = {
    {.name = "condensed",
     .kind = OPTION_FLAG,
     .offset = AT(condensed),
     .help = "only the entries above the diagonal, row by row, as one array"},
    {.name = "squared",
     .kind = OPTION_FLAG,
     .offset = AT(squared),
     .help = "squared distances, as the metric defines them"},
    END};
const option_group group_matrix = {"Matrix", matrix_options};

#define FORCE                                                                     \
    {                                                                             \
        .name = "force", .letter = 'f', .kind = OPTION_FLAG, .offset = AT(force), \
        .help = "overwrite files that exist, but never an input"                  \
    }
#define JSON                                                      \
    {                                                             \
        .name = "json", .kind = OPTION_FLAG, .offset = AT(json),  \
        .help = "print a summary for machines on standard output" \
    }

static const option_spec file_output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "FILE",
     .help = "where the result goes; - is standard output"},
    FORCE,
    JSON,
    END};
const option_group group_file_output = {"Output", file_output_options};

static const option_spec dir_output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "DIR",
     .help = "directory for the results, made if missing"},
    FORCE,
    JSON,
    END};
const option_group group_dir_output = {"Output", dir_output_options};

static const option_spec json_options[] = {JSON, END};
const option_group group_json = {"Output", json_options};

static const option_spec format_options[] = {
    {.name = "format",
     .kind = OPTION_CHOICE,
     .offset = AT(format),
     .choices = choices_format,
     .help = "format of the output (default: by the file name's ending, else npz)"},
    END};
const option_group group_format = {"Format", format_options};

static const option_spec generate_options[] = {
    {.name = "items",
     .kind = OPTION_COUNT,
     .offset = AT(items),
     .minimum = 1,
     .argument = "N",
     .help = "items in each group (default: 20)"},
    {.name = "points",
     .kind = OPTION_COUNT,
     .offset = AT(points),
     .minimum = 1,
     .argument = "N",
     .help = "points of each item (default: 40)"},
    {.name = "groups",
     .kind = OPTION_COUNT,
     .offset = AT(groups),
     .minimum = 1,
     .argument = "K",
     .help = "gaussians: number of groups (default: 3)"},
    {.name = "dim",
     .kind = OPTION_COUNT,
     .offset = AT(dim),
     .minimum = 1,
     .argument = "D",
     .help = "gaussians: dimensions (default: 2)"},
    {.name = "separation",
     .kind = OPTION_NUMBER,
     .offset = AT(separation),
     .minimum = 0,
     .argument = "X",
     .help = "gaussians: distance of the centres in standard deviations (default: 4)"},
    END};
const option_group group_generate = {"Data", generate_options};

static const option_spec page_output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "FILE|DIR",
     .help = "the page (default: DIR/report.html), or the folder of the pictures (default: DIR)"},
    FORCE,
    END};
const option_group group_page_output = {"Output", page_output_options};

static const option_choice choices_plots[] = {
    {"png", PICTURE_PNG + 1}, {"svg", PICTURE_SVG + 1}, {"pdf", PICTURE_PDF + 1}, {NULL, 0}};
static const option_spec plots_options[] = {
    {.name = "plots",
     .kind = OPTION_CHOICE,
     .offset = AT(plots),
     .choices = choices_plots,
     .help = "write each picture of the report as a file instead of the page"},
    END};
const option_group group_plots = {"Pictures", plots_options};

static const option_spec run_options[] = {
    {.name = "seed",
     .letter = 's',
     .kind = OPTION_COUNT,
     .offset = AT(seed),
     .minimum = 0,
     .argument = "S",
     .help = "seed of all random choices (default: 0)"},
    {.name = "threads",
     .letter = 'j',
     .kind = OPTION_COUNT,
     .offset = AT(threads),
     .minimum = 1,
     .argument = "T",
     .help = "threads (default: all processors); results do not depend on it"},
    {.name = "memory",
     .kind = OPTION_OTHER,
     .parse = value_memory,
     .argument = "BYTES",
     .help = "stop with exit code 5 rather than use more; K, M, G, T allowed (8G)"},
    {.name = "progress",
     .kind = OPTION_CHOICE,
     .offset = AT(progress),
     .choices = choices_progress,
     .help = "signs of life on standard error: a bar on terminals and sparse lines elsewhere "
             "(default), one JSON object a line, or none"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = AT(quiet),
     .help = "no progress, no summary, no advice; errors only"},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_FLAG,
     .offset = AT(verbose),
     .help = "say on standard error which path each stage took, and why"},
    END};
const option_group group_run = {"Run", run_options};

static const option_spec resume_options[] = {
    {.name = "resume",
     .kind = OPTION_FILE,
     .offset = AT(resume),
     .argument = "DIR",
     .help = "keep solved pairs in DIR; the same command takes up a stopped or killed run"},
    {.name = "dry-run",
     .letter = 'n',
     .kind = OPTION_FLAG,
     .offset = AT(dry_run),
     .help = "read the input, try a few items, and say what would be done and what it would take"},
    END};
const option_group group_resume = {"Long runs", resume_options};

static const option_spec device_options[] = {
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = AT(device),
     .argument = "auto|cpu|cuda[:N]",
     .help = "where products and bounds of all pairs are computed (default auto: the CPU in this "
             "version). cuda is experimental; graphs do not depend on it. For a matrix of sinkhorn "
             "values on a grid, cuda solves the pairs, to the same tolerance"},
    END};
const option_group group_device = {"Device", device_options};

static const option_spec man_options[] = {
    {.name = "man", .kind = OPTION_FLAG, .offset = AT(man), .help = "print the manual page"}, END};
const option_group group_man = {"Manual", man_options};

static const option_spec help_options[] = {{.name = "help",
                                            .letter = 'h',
                                            .kind = OPTION_FLAG,
                                            .offset = AT(help),
                                            .help = "print this help"},
                                           END};
const option_group group_help = {"Help", help_options};

void options_init(cli_options *o)
{
    *o = (cli_options){
        .items = 20, .points = 40, .groups = 3, .dim = 2, .separation = 4, .read_timeout = 60};
    ddsc_read_settings_init(&o->read);
    ddsc_transform_settings_init(&o->transform);
    ddsc_text_settings_init(&o->text);
    ddsc_cluster_settings_init(&o->cluster);
    ddsc_metric_settings_init(&o->metric);
    ddsc_graph_settings_init(&o->graph);
}
