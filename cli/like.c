/* --like DIR: uses the resolved settings of an earlier result. */
#include <stdlib.h>
#include <sys/stat.h>

#include "options.h"

static const option_spec like_options[] = {
    {.name = "like",
     .kind = OPTION_FILE,
     .offset = offsetof(cli_options, like),
     .argument = "DIR",
     .help = "use all resolved settings of this result: metric, bandwidth, epsilon, reference, "
             "transforms, tau, gamma, hub rule and K (unless -k is given). Two items then have the "
             "same distance in both results"},
    {.name = NULL}};
const option_group group_like = {"Settings of an earlier result", like_options};

const char *like_refused(const cli_options *o)
{
    static const char *const fixed[] = {
        "metric",         "cost",           "epsilon",      "sinkhorn-value",
        "tolerance",      "mmd-kernel",     "bandwidth",    "mmd-estimator",
        "mmd-features",   "max-iterations", "reference",    "tau",
        "reference-size", "lot-components", "neighbors",    "hubs",
        "sample",         "sample-columns", "gamma",        "min-cluster",
        "method",         "precomputed",    "paper",        "arcsinh",
        "logicle",        "log1p",          "normalize",    "pca",
        "align",          "batch",          "vectors-from", "barycenter",
        "center-size"};
    for (size_t k = 0; o->like && k < sizeof fixed / sizeof *fixed; k++)
        if (option_given(o, fixed[k]))
            return fixed[k];
    return NULL;
}

char *like_path(const char *result)
{
    struct stat info;
    bool folder = stat(result, &info) == 0 && S_ISDIR(info.st_mode);
    text t = {0};
    text_add(&t, result);
    if (!folder)
        return t.bytes;
    char *path = output_path(result, "model.npz");
    text_free(&t);
    return path;
}

bool like_open(session *s, const char *result, int *code)
{
    ddsc_model_view view;
    if (!result)
        return true;
    char *path = like_path(result);
    bool good = session_ok(s, ddsc_model_read_shared(s->ctx, &s->like, path), code);
    free(path);
    if (!good)
        return false;
    ddsc_model_get_view(s->like, &view);
    s->set.cluster.like = s->like;
    /* The model maps batches itself. */
    s->set.read.item_columns = ddsc_measures_get_batch(view.measures, 0);
    return true;
}
