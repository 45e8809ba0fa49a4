/* Defines the option groups. An option has the same meaning in every verb that accepts it. */
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
     .help = "use a random subset with N items of every class, drawn with --seed"},
    {.name = "compress",
     .kind = OPTION_OTHER,
     .parse = value_compress,
     .argument = "M|auto|P%",
     .help = "first merge the points of each item to at most M points, and report how D and the "
             "nearest neighbors change on sampled pairs; P%: the smallest M of 16, 32, ..., 256 "
             "that preserves P% of the neighbors; auto: 95%"},
    END};
const option_group group_subset = {"Less data", subset_options};

static const option_spec truth_options[] = {
    {.name = "truth",
     .kind = OPTION_FILE,
     .offset = AT(truth),
     .argument = "FILE",
     .help = "true classes to score against (default: the labels in the input, if any)"},
    END};
const option_group group_truth = {"Scores", truth_options};

static const option_spec precomputed_options[] = {
    {.name = "precomputed",
     .kind = OPTION_FLAG,
     .offset = AT(precomputed),
     .help = "INPUT is a square distance matrix (npy or mtx); NaN means unknown"},
    {.name = "squared-input",
     .kind = OPTION_FLAG,
     .offset = AT(squared_input),
     .help = "the matrix of --precomputed contains squared distances"},
    END};
const option_group group_precomputed = {"Given distances", precomputed_options};

static const option_spec compare_options[] = {
    {.name = "clusters",
     .letter = 'k',
     .kind = OPTION_OTHER,
     .parse = value_clusters,
     .argument = "K|A:B|auto",
     .help =
         "number of clusters; for a range or auto (default), the number that most metrics suggest"},
    {.name = "metrics",
     .kind = OPTION_OTHER,
     .parse = value_metrics,
     .argument = "LIST",
     .help = "metrics to compare, separated by commas (default: w2,sinkhorn,mmd,lot)"},
    END};
const option_group group_compare = {"Comparison", compare_options};

#define METRIC AT(metric.metric)
static const option_spec metric_options[] = {
    {.name = "metric",
     .letter = 'm',
     .kind = OPTION_CHOICE,
     .offset = METRIC,
     .choices = choices_metric,
     .help = "exact Wasserstein distance with squared (w2, default) or plain (w1) costs, entropic "
             "transport, maximum mean discrepancy, or linear optimal transport. cluster can also "
             "join several metrics with + (w2+mmd+lot), which averages their normalized "
             "affinities; the result is usually close to that of the best metric"},
    {.name = "cost",
     .kind = OPTION_OTHER,
     .parse = value_cost,
     .argument = "sqeuclidean|euclidean|cosine|cityblock|FILE",
     .help =
         "cost of moving mass between points: w2 accepts sqeuclidean (default), cosine (squared "
         "distances of unit vectors) and FILE; w1 accepts euclidean (default), cityblock and FILE; "
         "sinkhorn and --method d2 accept all; lot and pd2 accept sqeuclidean and cosine. FILE is "
         "a matrix (npy, csv), and the coordinate of a point is its row"},
    {.name = "epsilon",
     .kind = OPTION_OTHER,
     .parse = value_epsilon,
     .argument = "X|X%",
     .help = "sinkhorn: weight of the entropy term, absolute or as a percentage of the median cost "
             "(default: 5%)"},
    {.name = "sinkhorn-value",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.sinkhorn_value),
     .choices = choices_sinkhorn,
     .help =
         "sinkhorn: cost plus entropy term (default), cost alone, or the debiased divergence, "
         "which is 0 for equal items; with paper, the cost plus entropy term is D instead of D^2"},
    {.name = "tolerance",
     .kind = OPTION_OTHER,
     .parse = value_tolerance,
     .argument = "X",
     .help = "sinkhorn: maximum marginal error of a converged pair"},
    {.name = "max-iterations",
     .kind = OPTION_COUNT,
     .offset = AT(metric.sinkhorn_max_iterations),
     .minimum = 1,
     .argument = "N",
     .help = "sinkhorn: maximum number of iterations per pair"},
    {.name = "mmd-kernel",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.mmd_kernel),
     .choices = choices_kernel,
     .help = "mmd: kernel (default: gaussian)"},
    {.name = "bandwidth",
     .kind = OPTION_OTHER,
     .parse = value_bandwidth,
     .argument = "auto|near|median|X",
     .help = "mmd: kernel width; near is the 5% quantile of the distances between points; auto "
             "(default) is near, or 1.5 times the median (laplace and documents: the median) if "
             "the median is less than 1.85 times near, as in many dimensions"},
    {.name = "mmd-estimator",
     .kind = OPTION_CHOICE,
     .offset = AT(metric.mmd_estimator),
     .choices = choices_estimator,
     .help = "mmd: estimator; auto (default) is biased, or unbiased with --paper"},
    {.name = "mmd-features",
     .kind = OPTION_COUNT,
     .offset = AT(metric.mmd_features),
     .minimum = 1,
     .argument = "L",
     .help = "mmd: approximate with L random Fourier features (gaussian, laplace), for items with "
             "thousands of points; the error on a sample of pairs is reported"},
    END};
const option_group group_metric = {"Metric", metric_options};
/* The same group for verbs with --metrics. */
const option_group group_metric_values = {"Metric", metric_options + 1};

static const option_spec reference_options[] = {
    {.name = "reference",
     .kind = OPTION_OTHER,
     .parse = value_reference,
     .argument = "auto|normal|kmeans|FILE",
     .help = "lot: reference for the transport: a normal sample fitted to the data, k-means "
             "centers of all points, or the first item of FILE; auto (default) is kmeans in more "
             "than three dimensions, and normal in up to three or with --paper"},
    {.name = "reference-size",
     .kind = OPTION_COUNT,
     .offset = AT(metric.reference_size),
     .minimum = 1,
     .argument = "M",
     .help = "lot: number of points of the reference (default: the mean support size)"},
    {.name = "lot-components",
     .kind = OPTION_COUNT,
     .offset = AT(metric.lot_components),
     .minimum = 1,
     .argument = "R",
     .help = "lot: keep R principal components of the embedding; the variance lost is reported "
             "(default: keep all)"},
    END};
const option_group group_reference = {"Linear optimal transport", reference_options};

static const option_spec graph_options[] = {
    {.name = "tau",
     .letter = 't',
     .kind = OPTION_COUNT,
     .offset = AT(graph.tau),
     .minimum = 1,
     .argument = "T",
     .help = "neighbors per item (default: max(10, log2 N); for documents at least 20, for short "
             "ones at least 28; fewer for small N; reported in the output)"},
    {.name = "exact-graph",
     .kind = OPTION_CHOICE,
     .offset = AT(graph.exact_graph),
     .choices = choices_exact_graph,
     .help =
         "compute every pair, or skip the pairs that lower bounds exclude; the graph is the same"},
    {.name = "neighbors",
     .kind = OPTION_CHOICE,
     .offset = AT(graph.neighbors),
     .choices = choices_neighbors,
     .help = "exact for up to 100,000 items (auto), always exact, or approximate: only candidates "
             "are compared by the metric, and the estimated share of true neighbors that were "
             "found is reported"},
    {.name = "hubs",
     .kind = OPTION_CHOICE,
     .offset = AT(hubs),
     .choices = choices_hubs,
     .help = "choose neighbors by a locally rescaled distance, which prevents hubs (items that are "
             "neighbors of very many others): if in-degrees are skewed (auto; default of cluster), "
             "never (off; default of neighbors, and with --paper), or always"},
    {.name = "sample",
     .kind = OPTION_OTHER,
     .parse = value_sample,
     .argument = "P",
     .help = "compute only a random fraction P of the pairs (default: 1); cluster estimates the "
             "other pairs if possible, except with --paper"},
    {.name = "sample-columns",
     .kind = OPTION_OTHER,
     .parse = value_sample_columns,
     .argument = "P",
     .help = "compute only the distances from a random fraction P of the items to all items, and "
             "approximate the others (Nystrom)"},
    END};
const option_group group_graph = {"Neighbor graph", graph_options};

static const option_spec cluster_options[] = {
    {.name = "clusters",
     .letter = 'k',
     .kind = OPTION_OTHER,
     .parse = value_clusters,
     .argument = "K|A:B|auto",
     .help = "number of clusters, a range from A to B (all from one decomposition), or a number "
             "chosen from the data"},
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
     .help = "affinity exp(-gamma D^2): gamma is chosen by local scaling, as 1 / median of D^2 in "
             "the graph, or given as a number; auto (default) is local, or median if a sparse "
             "cluster borders a dense one"},
    {.name = "min-cluster",
     .kind = OPTION_OTHER,
     .parse = value_min_cluster,
     .argument = "F",
     .help = "merge clusters with fewer than F N/K items into their nearest cluster (default: 0.2; "
             "0: never)"},
    {.name = "outliers",
     .kind = OPTION_FLAG,
     .offset = AT(outliers),
     .help = "give outliers the label -1 and exclude them from all clusters (by default, they are "
             "only marked in items.csv)"},
    {.name = "stability",
     .kind = OPTION_COUNT,
     .offset = AT(stability),
     .minimum = 1,
     .argument = "B",
     .help = "resample the points of every item B times, cluster again, and report the changes"},
    END};
const option_group group_cluster = {"Clustering", cluster_options};

static const option_spec baseline_options[] = {
    {.name = "vectors-from",
     .kind = OPTION_CHOICE,
     .offset = AT(vectors_from),
     .choices = choices_vectors,
     .help = "kmeans, sc: represent an item by its histogram over the support, or by the mean of "
             "its points (default: histogram if the support is shared)"},
    {.name = "barycenter",
     .kind = OPTION_CHOICE,
     .offset = AT(barycenter),
     .choices = choices_barycenter,
     .help = "d2: method that computes the centers: Bregman ADMM (default) or entropic scaling"},
    {.name = "center-size",
     .kind = OPTION_COUNT,
     .offset = AT(center_size),
     .minimum = 1,
     .argument = "N",
     .help = "d2, pd2: number of points of a center (default: the mean number of points per item)"},
    {.name = "restarts",
     .kind = OPTION_COUNT,
     .offset = AT(restarts),
     .minimum = 1,
     .argument = "R",
     .help = "number of starts of k-means, d2 and pd2, of which the best is kept (default: 30; d2 "
             "and pd2: 3)"},
    END};
const option_group group_baseline = {"Baselines", baseline_options};

static const option_spec matrix_options[] = {
    {.name = "condensed",
     .kind = OPTION_FLAG,
     .offset = AT(condensed),
     .help = "write only the entries above the diagonal, row by row, as one array"},
    {.name = "squared",
     .kind = OPTION_FLAG,
     .offset = AT(squared),
     .help = "write squared distances, as the metric defines them"},
    END};
const option_group group_matrix = {"Matrix", matrix_options};

#define JSON                                                          \
    {                                                                 \
        .name = "json", .kind = OPTION_FLAG, .offset = AT(json),      \
        .help = "print a machine-readable summary on standard output" \
    }

static const option_spec file_output_options[] = {{.name = "output",
                                                   .letter = 'o',
                                                   .kind = OPTION_FILE,
                                                   .offset = AT(output),
                                                   .argument = "FILE",
                                                   .help = "output file; - is standard output"},
                                                  OPTION_FORCE,
                                                  JSON,
                                                  END};
const option_group group_file_output = {"Output", file_output_options};

static const option_spec dir_output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "DIR",
     .help = "folder for the results, created if missing"},
    OPTION_FORCE,
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
     .help = "items in each cluster (default: 20)"},
    {.name = "points",
     .kind = OPTION_COUNT,
     .offset = AT(points),
     .minimum = 1,
     .argument = "N",
     .help = "number of points per item (default: 40)"},
    {.name = "clusters",
     .kind = OPTION_COUNT,
     .offset = AT(generated_clusters),
     .minimum = 1,
     .argument = "K",
     .help = "gaussians: number of clusters (default: 3)"},
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
     .help = "gaussians: distance between the centers in standard deviations (default: 4)"},
    END};
const option_group group_generate = {"Data", generate_options};

static const option_spec page_output_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .offset = AT(output),
     .argument = "FILE|DIR",
     .help = "the page (default: DIR/report.html), or the folder for the figures (default: DIR)"},
    OPTION_FORCE,
    END};
const option_group group_page_output = {"Output", page_output_options};

static const option_choice choices_plots[] = {
    {"png", PICTURE_PNG + 1}, {"svg", PICTURE_SVG + 1}, {"pdf", PICTURE_PDF + 1}, {NULL, 0}};
static const option_spec plots_options[] = {
    {.name = "plots",
     .kind = OPTION_CHOICE,
     .offset = AT(plots),
     .choices = choices_plots,
     .help = "write each figure of the report to a file instead of the page"},
    END};
const option_group group_plots = {"Figures", plots_options};

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
     .help = "number of threads (default: all processors); results do not depend on it"},
    {.name = "memory",
     .kind = OPTION_OTHER,
     .parse = value_memory,
     .argument = "BYTES",
     .help = "stop with exit code 5 instead of using more memory; the suffixes K, M, G and T are "
             "allowed (8G)"},
    {.name = "progress",
     .kind = OPTION_CHOICE,
     .offset = AT(progress),
     .choices = choices_progress,
     .help = "progress on standard error: a bar on terminals and occasional lines elsewhere "
             "(default), one JSON object per line, or none"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = AT(quiet),
     .help = "print only errors: no progress, summary or advice"},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_FLAG,
     .offset = AT(verbose),
     .help = "print all details of the result, and report on standard error which algorithm each "
             "stage used, and why"},
    END};
const option_group group_run = {"Run", run_options};

static const option_spec resume_options[] = {
    {.name = "resume",
     .kind = OPTION_FILE,
     .offset = AT(resume),
     .argument = "DIR",
     .help =
         "store solved pairs in DIR; run the same command again to resume a stopped or killed run"},
    {.name = "dry-run",
     .letter = 'n',
     .kind = OPTION_FLAG,
     .offset = AT(dry_run),
     .help = "read the input, run the computation on a few items, and report the planned work and "
             "its estimated cost"},
    END};
const option_group group_resume = {"Long runs", resume_options};

static const option_spec device_options[] = {
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = AT(device),
     .argument = "auto|cpu|cuda[:N]",
     .help = "device that computes products and bounds of all pairs (default auto: a GPU for large "
             "sets, if available). Graphs do not depend on the device. With cuda, 'ddsc distance' "
             "also solves sinkhorn pairs on grids on the GPU, to the same tolerance"},
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
    *o = (cli_options){.items = 20,
                       .points = 40,
                       .generated_clusters = 3,
                       .dim = 2,
                       .separation = 4,
                       .read_timeout = 60};
    o->permutations = 9999;
    ddsc_read_settings_init(&o->read);
    ddsc_transform_settings_init(&o->transform);
    ddsc_text_settings_init(&o->text);
    ddsc_cluster_settings_init(&o->cluster);
    ddsc_metric_settings_init(&o->metric);
    ddsc_graph_settings_init(&o->graph);
}
