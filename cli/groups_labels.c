/* The options of cluster about how labels of documents are decided, and how certain labels are. */
#include "options.h"

#define AT(member) offsetof(cli_options, member)

static const option_spec label_options[] = {
    {.name = "refine",
     .kind = OPTION_CHOICE,
     .offset = AT(refine),
     .choices = choices_refine,
     .help =
         "refine the labels of documents by a mixture model of their words: if ddsc text stored "
         "the word counts (auto, default; not with --paper), never (off), or fail without "
         "counts (words)"},
    {.name = NULL}};
const option_group group_labels = {"Labels", label_options};
