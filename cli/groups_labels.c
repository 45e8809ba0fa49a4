/* The options of cluster that refine the labels of documents and compute memberships. */
#include "options.h"

#define AT(member) offsetof(cli_options, member)

static const option_spec label_options[] = {
    {.name = "refine",
     .kind = OPTION_CHOICE,
     .offset = AT(refine),
     .choices = choices_refine,
     .help = "refine the labels of documents by a mixture model of their words: if ddsc text "
             "stored word counts (auto, default; not with --paper), never (off), or always, with "
             "an error if there are no counts (words)"},
    {.name = "membership",
     .kind = OPTION_FLAG,
     .offset = AT(membership),
     .help = "write membership.csv: how strongly each item belongs to each cluster, calibrated on "
             "held-out items or on halves of documents"},
    {.name = NULL}};
const option_group group_labels = {"Labels", label_options};
