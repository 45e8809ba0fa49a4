/* Generates help texts from the verb and option tables. */
#include "options.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 26 };

/* Adds a line " -k, --clusters=...", with the help of the option starting at HELP_COLUMN. */
static void add_option(text *t, const option_spec *s)
{
    text head = {0}, argument = {0};
    option_argument(&argument, s);
    text_addf(&head, s->letter ? "  -%c, " : "   %c  ", s->letter ? s->letter : ' ');
    text_addf(&head, "--%s%s%s", s->name, argument.length ? "=" : "", text_get(&argument));
    text_add(t, text_get(&head));
    if (head.length + 2 > HELP_COLUMN)
        text_addf(t, "\n%*s", HELP_COLUMN, "");
    else
        text_addf(t, "%*s", HELP_COLUMN - (int)head.length, "");
    text_add_wrapped(t, s->help, HELP_COLUMN, HELP_COLUMN, WIDTH);
    text_add(t, "\n");
    text_free(&head);
    text_free(&argument);
}

static void add_examples(text *t, const char *examples)
{
    for (const char *s = examples; *s;) {
        size_t line = strcspn(s, "\n"), command = strcspn(s, "\t");
        text_add(t, "  ");
        text_add_bytes(t, s, command);
        text_add(t, "\n      ");
        text_add_bytes(t, s + command + 1, line - command - 1);
        text_add(t, "\n");
        s += line + (s[line] == '\n');
    }
}

void help_verb(text *t, const cli_verb *verb)
{
    text_addf(t, "Usage: ddsc %s %s\n\n", verb->name, verb->operands);
    text_add_wrapped(t, verb->description, 0, 0, WIDTH);
    text_add(t, "\n");
    for (const option_group *const *g = verb->groups; *g; g++) {
        text_addf(t, "\n%s:\n", (*g)->title);
        for (const option_spec *s = (*g)->options; s->name; s++)
            add_option(t, s);
    }
    if (verb->examples) {
        text_add(t, "\nExamples:\n");
        add_examples(t, verb->examples);
    }
}

void help_program(text *t)
{
    text_add(t, "Usage: ddsc VERB [ARGUMENTS]\n"
                "\n");
    text_add_wrapped(t,
                     "Clusters discrete distributions. Every item is a weighted point cloud (a "
                     "document, an image, a sample of cells).",
                     0, 0, WIDTH);
    text_add(t, "\n\nVerbs:\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (!(*v)->hidden)
            text_addf(t, "  %-11s %s\n", (*v)->name, (*v)->summary);
    text_add(t, "\n"
                "  -h, --help     print this help; use 'ddsc VERB --help' for one verb, and\n"
                "                 'ddsc help metrics' for the metrics\n"
                "  -V, --version  print version and features\n"
                "\n"
                "Examples:\n");
    add_examples(t,
                 "ddsc demo\tthe built-in example, with a report\n"
                 "ddsc info clouds.npz\tthe contents of a file\n"
                 "ddsc cluster clouds.npz -k 5 -o result\tfive clusters, all results in result/\n"
                 "ddsc cluster clouds.csv -k auto --metric lot\tlabels on standard output\n");
    text_add(t, "\n"
                "Exit codes: 0 success, 1 internal error, 2 usage error, 3 bad input, 4 not\n"
                "converged (results are written and marked), 5 out of memory or over --memory,\n"
                "6 an output cannot be written, 7 a rank of ddsc-mpi failed or was lost,\n"
                "75 interrupted.\n");
}

/* ---- metrics ---- */

typedef struct metric_help {
    const char *name, *what, *use;
} metric_help;

static const metric_help metrics[] = {
    {"w2", "Wasserstein distance: exact optimal transport with squared distances.",
     "The default. Use it for up to a few thousand items of any kind."},
    {"w1", "Exact optimal transport with unsquared distances (the word mover's distance).",
     "Use it if a few distant points carry no meaning, or with --cost FILE for items that are "
     "shares of known types."},
    {"sinkhorn", "Optimal transport with a blurred plan; --epsilon sets the blur.",
     "Use it if small displacements of points are noise."},
    {"mmd",
     "Maximum mean discrepancy: the difference of smoothed densities; --bandwidth sets the "
     "width.",
     "Use it for many images on one grid. It needs no transport."},
    {"lot",
     "Linear optimal transport: approximates W2 by comparing transport plans to one reference.",
     "Use it for tens of thousands of items, or for items with hundreds of points. The error of "
     "the "
     "approximation is reported."},
};

void help_metrics(text *t)
{
    text_add(t, "Metrics (--metric, -m):\n");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        text_addf(t, "  %-10s", metrics[i].name);
        text_add_wrapped(t, metrics[i].what, 12, 12, WIDTH);
        text_addf(t, "\n%12s", "");
        text_add_wrapped(t, metrics[i].use, 12, 12, WIDTH);
        text_add(t, "\n");
    }
    text_add(t, "\n");
    text_add_wrapped(
        t,
        "Several metrics can be joined (-m w2+mmd+lot). 'ddsc compare' clusters with each "
        "metric and compares the results.",
        0, 0, WIDTH);
    text_add(t, "\n");
}
