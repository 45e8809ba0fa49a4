/* The option --paper, which has the same meaning in every verb that computes. */
#include "options.h"

static const option_spec paper_options[] = {
    {.name = "paper",
     .kind = OPTION_FLAG,
     .offset = offsetof(cli_options, cluster.paper),
     .help = "the algorithm of the paper as printed and nothing else; options that contradict it "
             "are rejected ('ddsc help paper' lists every line)"},
    {.name = NULL}};
const option_group group_paper = {"The paper", paper_options};
