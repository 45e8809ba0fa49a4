/* The manual page, made from the same tables as the help. */
#include "options.h"

#include <string.h>

/* roff text: backslashes, leading dots and quotes, and hyphens that must stay hyphens. */
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
    "\\fBddsc cluster \\-o\\fR \\fIDIR\\fR writes, each file whole or not at all:\n"
    ".TP\n\\fBlabels.csv\\fR\nthe columns id and label; items without mass have label \\-1\n"
    ".TP\n\\fBitems.csv\\fR\nof every item the next cluster, doubt, outlier score and nearest "
    "neighbours\n"
    ".TP\n\\fBresult.json\\fR\n"
    "settings, versions, seed, sizes, gaps, components, certificates, pairs solved and pruned, "
    "scores, threads and seconds by stage; all but \\fBthreads\\fR and \\fBseconds\\fR are the "
    "same at every run\n"
    ".TP\n\\fBembedding.npy\\fR\nthe rows given to k\\-means\n"
    ".TP\n\\fBeigenvalues.csv\\fR\neigenvalues of the normalised Laplacian and their residuals\n"
    ".TP\n\\fBgraph.mtx\\fR\ncolumn c holds the squared distances of the nearest of item c\n"
    ".TP\n\\fBsweep.csv\\fR\nwith a range of K: the labels of every K\n"
    ".TP\n\\fBreport.html\\fR\na page that needs no other file\n";

static const char man_end[] =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n\\fB0\\fR\ngood\n.TP\n\\fB1\\fR\ninternal error\n"
    ".TP\n\\fB2\\fR\nwrong usage, or an output file exists and \\fB\\-\\-force\\fR was not given\n"
    ".TP\n\\fB3\\fR\nbad input; the message names file, item, line or column\n"
    ".TP\n\\fB4\\fR\nnot converged or not certified; results are written and marked\n"
    ".TP\n\\fB5\\fR\nout of memory, or over \\fB\\-\\-memory\\fR\n"
    ".TP\n\\fB6\\fR\nan output or a resume folder cannot be written\n"
    ".TP\n\\fB7\\fR\none rank of \\fBddsc\\-mpi\\fR failed or was lost\n"
    ".TP\n\\fB75\\fR\ninterrupted\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNO_COLOR\\fR\nwhen set and not empty, no colours on terminals\n";

void help_man(text *t)
{
    text_addf(t, ".TH DDSC 1 \"\" \"ddsc %s\" \"User Commands\"\n", ddsc_version());
    text_add(t, ".SH NAME\nddsc \\- cluster discrete distributions\n"
                ".SH SYNOPSIS\n\\fBddsc\\fR \\fIVERB\\fR [\\fIWORDS\\fR]\n.br\n"
                "\\fBddsc \\-\\-help\\fR | \\fB\\-\\-version\\fR\n"
                ".SH DESCRIPTION\n"
                "Every item is a weighted point cloud: a document is weighted word vectors, an "
                "image weighted pixels, a patient a cloud of cells. Items are compared by a "
                "metric, joined to their nearest neighbours in a graph, and cut into clusters by "
                "the eigenvectors of that graph. Data goes to standard output or to the place "
                "named by \\fB\\-o\\fR, progress and warnings to standard error; "
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
