/* Generates the manual page from the same tables as the help. */
#include "options.h"

#include <string.h>

/* Adds text in roff: escapes backslashes, leading dots and quotes, and literal hyphens. */
static void add_roff(text *t, const char *string)
{
    for (const char *s = string; *s; s++) {
        bool line_begins = t->length == 0 || t->bytes[t->length - 1] == '\n';
        if (line_begins && (*s == '.' || *s == '\''))
            text_add(t, "\\&");
        if (*s == '\\')
            text_add(t, "\\e");
        else if (*s == '-')
            text_add(t, "\\-");
        else
            text_add_bytes(t, s, 1);
    }
}

static void add_option(text *t, const option_spec *s)
{
    text_add(t, ".TP\n");
    if (s->letter)
        text_addf(t, "\\fB\\-%c\\fR, ", s->letter);
    text_add(t, "\\fB\\-\\-");
    add_roff(t, s->name);
    text_add(t, "\\fR");
    text argument = {0};
    option_argument(&argument, s);
    if (argument.length) {
        text_add(t, "=\\fI");
        add_roff(t, text_get(&argument));
        text_add(t, "\\fR");
    }
    text_free(&argument);
    text_add(t, "\n");
    add_roff(t, s->help);
    text_add(t, "\n");
}

static void add_examples(text *t, const char *examples)
{
    for (const char *s = examples; *s;) {
        size_t line = strcspn(s, "\n"), command = strcspn(s, "\t");
        text part = {0};
        text_add(t, ".TP\n\\fB");
        text_add_bytes(&part, s, command);
        add_roff(t, text_get(&part));
        text_free(&part);
        text_add(t, "\\fR\n");
        text_add_bytes(&part, s + command + 1, line - command - 1);
        add_roff(t, text_get(&part));
        text_free(&part);
        text_add(t, "\n");
        s += line + (s[line] == '\n');
    }
}

static void add_verb(text *t, const cli_verb *verb)
{
    text_addf(t, ".SH \"DDSC %s\"\n\\fBddsc %s\\fR ", verb->name, verb->name);
    add_roff(t, verb->operands);
    text_add(t, "\n.PP\n");
    add_roff(t, verb->description);
    text_add(t, "\n");
    for (const option_group *const *g = verb->groups; *g; g++) {
        text_addf(t, ".SS %s\n", (*g)->title);
        for (const option_spec *s = (*g)->options; s->name; s++)
            add_option(t, s);
    }
    if (verb->examples) {
        text_add(t, ".SS Examples\n");
        add_examples(t, verb->examples);
    }
}

static const char man_files[] =
    ".SH FILES\n"
    "\\fBddsc cluster \\-o\\fR \\fIDIR\\fR writes these files, each atomically:\n"
    ".TP\n"
    "\\fBlabels.csv\\fR\n"
    "the columns id and label; items without mass have the label \\-1\n"
    ".TP\n"
    "\\fBitems.csv\\fR\n"
    "for every item: nearest other cluster, ambiguity, outlier score and nearest "
    "neighbors\n"
    ".TP\n"
    "\\fBresult.json\\fR\n"
    "settings, versions, seed, sizes, gaps, components, certificates, pairs solved and pruned, "
    "scores, threads and seconds by stage; all but \\fBthreads\\fR and \\fBseconds\\fR are the "
    "same in every run\n"
    ".TP\n"
    "\\fBembedding.npy\\fR\n"
    "the rows that k\\-means clusters\n"
    ".TP\n"
    "\\fBeigenvalues.csv\\fR\n"
    "eigenvalues of the normalized Laplacian and their residuals\n"
    ".TP\n"
    "\\fBgraph.mtx\\fR\n"
    "column c contains the squared distances of the neighbors of item c\n"
    ".TP\n"
    "\\fBsweep.csv\\fR\n"
    "with a range of K: the labels for every K\n"
    ".TP\n"
    "\\fBmembership.csv\\fR\n"
    "with \\-\\-membership: how strongly each item belongs to each cluster\n"
    ".TP\n"
    "\\fBreport.html\\fR\n"
    "a self\\-contained page\n";

static const char man_end[] =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n"
    "\\fB0\\fR\n"
    "success\n"
    ".TP\n"
    "\\fB1\\fR\n"
    "internal error\n"
    ".TP\n"
    "\\fB2\\fR\n"
    "usage error, or an output file exists and \\fB\\-\\-force\\fR was not given\n"
    ".TP\n"
    "\\fB3\\fR\n"
    "bad input; the message names the file, item, line or column\n"
    ".TP\n"
    "\\fB4\\fR\n"
    "not converged or not certified; results are written and marked\n"
    ".TP\n"
    "\\fB5\\fR\n"
    "out of memory, or over \\fB\\-\\-memory\\fR\n"
    ".TP\n"
    "\\fB6\\fR\n"
    "an output or a resume folder cannot be written\n"
    ".TP\n"
    "\\fB7\\fR\n"
    "a rank of \\fBddsc\\-mpi\\fR failed or was lost\n"
    ".TP\n"
    "\\fB75\\fR\n"
    "interrupted\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    "\\fBNO_COLOR\\fR\n"
    "if set and not empty, disables colors on terminals\n";

void help_man(text *t)
{
    text_addf(t, ".TH DDSC 1 \"\" \"ddsc %s\" \"User Commands\"\n", ddsc_version());
    text_add(
        t,
        ".SH NAME\n"
        "ddsc \\- cluster discrete distributions\n"
        ".SH SYNOPSIS\n"
        "\\fBddsc\\fR \\fIVERB\\fR [\\fIARGUMENTS\\fR]\n"
        ".br\n"
        "\\fBddsc \\-\\-help\\fR | \\fB\\-\\-version\\fR\n"
        ".SH DESCRIPTION\n"
        "Every item is a weighted point cloud. A document is a set of weighted word vectors, an\n"
        "image is a set of weighted pixels, and a patient is a cloud of cells. Items are compared\n"
        "with a metric and connected to their nearest neighbors in a graph. The eigenvectors of\n"
        "that graph define the clusters. Results are written to standard output or to the path\n"
        "given with \\fB\\-o\\fR, progress and warnings to standard error.\n"
        "\\fB\\-\\fR is standard input or output.\n"
        ".SH VERBS\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++) {
        if ((*v)->hidden)
            continue;
        text_addf(t, ".TP\n\\fB%s\\fR\n", (*v)->name);
        add_roff(t, (*v)->summary);
        text_add(t, "\n");
    }
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (!(*v)->hidden)
            add_verb(t, *v);
    text_add(t, man_files);
    text_add(t, man_end);
}
