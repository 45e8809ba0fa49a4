/* The option --paper, which has the same meaning in every verb. */
#include "options.h"

static const option_spec paper_options[] = {
    {.name = "paper",
     .kind = OPTION_FLAG,
     .offset = offsetof(cli_options, cluster.paper),
     .help = "use exactly the algorithm printed in the paper; options that contradict it are "
             "rejected ('ddsc help paper' lists every line)"},
    {.name = NULL}};
const option_group group_paper = {"The paper", paper_options};

const char *paper_replaced_option(const cli_options *o)
{
    if (option_given(o, "sinkhorn-value") && o->metric.sinkhorn_value == DDSC_SINKHORN_REGULARIZED)
        return "--sinkhorn-value regularized";
    if (option_given(o, "min-cluster") && o->cluster.min_cluster > 0)
        return "--min-cluster";
    if (option_given(o, "refine") && o->refine == DDSC_REFINE_AUTO)
        return "--refine auto";
    if (option_given(o, "words") && o->text.words == DDSC_WORDS_FITTED)
        return "--words fitted";
    if (option_given(o, "tokens") && o->text.tokens == DDSC_TOKENS_WORDS)
        return "--tokens words";
    return NULL;
}
