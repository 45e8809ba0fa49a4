/* ddsc score: measures the agreement of labels with a ground truth. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

enum { MAX_PRINTED_COLUMNS = 24 };

/* The number of items of every (label, class) pair that occurs. Labels and classes are in ascending
 * order. */
typedef struct confusion {
    int64_t n_labels, n_classes;
    int32_t *label, *class;
    int64_t *count; /* n_labels x n_classes */
} confusion;

static int compare(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Returns the distinct values of the pairs that are not ignored. The caller frees them with free().
 * */
static int32_t *distinct(int64_t *n_distinct, int64_t n, const int32_t *values,
                         const int32_t *other)
{
    int32_t *list = cli_allocate((size_t)n, sizeof *list);
    int64_t m = 0, last = 0;
    for (int64_t i = 0; i < n; i++)
        if (values[i] >= 0 && other[i] >= 0)
            list[m++] = values[i];
    qsort(list, (size_t)m, sizeof *list, compare);
    for (int64_t i = 0; i < m; i++)
        if (i == 0 || list[i] != list[last - 1])
            list[last++] = list[i];
    *n_distinct = last;
    return list;
}

static int64_t position(const int32_t *list, int64_t n, int32_t value)
{
    const int32_t *at = bsearch(&value, list, (size_t)n, sizeof *list, compare);
    return at - list;
}

static void confusion_make(confusion *c, int64_t n, const int32_t *labels, const int32_t *truth)
{
    c->label = distinct(&c->n_labels, n, labels, truth);
    c->class = distinct(&c->n_classes, n, truth, labels);
    if (c->n_classes && c->n_labels > INT64_MAX / 16 / c->n_classes)
        c->n_labels = 0;
    c->count = cli_allocate((size_t)c->n_labels, (size_t)c->n_classes * sizeof *c->count);
    for (int64_t i = 0; i < n && c->n_labels; i++)
        if (labels[i] >= 0 && truth[i] >= 0)
            c->count[position(c->label, c->n_labels, labels[i]) * c->n_classes +
                     position(c->class, c->n_classes, truth[i])]++;
}

static void confusion_free(confusion *c)
{
    free(c->label);
    free(c->class);
    free(c->count);
}

static void add_confusion(text *t, const confusion *c)
{
    if (c->n_classes > MAX_PRINTED_COLUMNS) {
        text_addf(t, "\n(%" PRId64 " classes: the confusion table is in --json)\n", c->n_classes);
        return;
    }
    text_addf(t, "\nlabel \\ class");
    for (int64_t j = 0; j < c->n_classes; j++)
        text_addf(t, " %6" PRId32, c->class[j]);
    text_add(t, "\n");
    for (int64_t i = 0; i < c->n_labels; i++) {
        text_addf(t, "%13" PRId32, c->label[i]);
        for (int64_t j = 0; j < c->n_classes; j++)
            text_addf(t, " %6" PRId64, c->count[i * c->n_classes + j]);
        text_add(t, "\n");
    }
}

static json_t *to_json(const ddsc_scores *scores, const confusion *c)
{
    json_t *root = json_object();
    json_put_scores(root, scores);
    json_t *table = json_put_object(root, "confusion");
    json_t *labels = json_put_array(table, "labels"), *classes = json_put_array(table, "classes");
    json_t *rows = json_put_array(table, "counts");
    for (int64_t j = 0; j < c->n_classes; j++)
        json_add(classes, json_integer(c->class[j]));
    for (int64_t i = 0; i < c->n_labels; i++) {
        json_t *row = json_array();
        json_add(labels, json_integer(c->label[i]));
        json_add(rows, row);
        for (int64_t j = 0; j < c->n_classes; j++)
            json_add(row, json_integer(c->count[i * c->n_classes + j]));
    }
    return root;
}

static bool print_scores(session *s, const ddsc_scores *scores, const confusion *c, int *code)
{
    text t = {0};
    text_addf(&t,
              "AMI     %8.4f\nARI     %8.4f\nNMI     %8.4f\npurity  %8.4f\nitems   %8" PRId64 "\n",
              scores->ami, scores->ari, scores->nmi, scores->purity, scores->n);
    add_confusion(&t, c);
    return output_print(s, &t, code);
}

static bool score(session *s, int64_t n, const int32_t *labels, const int32_t *truth, int *code)
{
    ddsc_scores scores;
    confusion c = {0};
    ddsc_scores_init(&scores);
    if (!session_ok(s, ddsc_scores_run(s->ctx, &scores, n, labels, truth), code))
        return false;
    confusion_make(&c, n, labels, truth);
    bool good = s->opt.json ? json_print(s, to_json(&scores, &c), code)
                            : print_scores(s, &scores, &c, code);
    confusion_free(&c);
    return good;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    int32_t *labels = NULL, *truth = NULL;
    int64_t n = 0;
    const char *const *operand = s->opt.operand;
    if (output_is_stdout(operand[0]) && output_is_stdout(operand[1]))
        return message_usage(s->verb, "only one of the two files can be standard input");
    if (session_ok(s,
                   ddsc_labels_read_both(s->ctx, &labels, &truth, &n, NULL, operand[0], operand[1]),
                   &code))
        score(s, n, labels, truth, &code);
    ddsc_release(s->ctx, labels);
    ddsc_release(s->ctx, truth);
    return code;
}

static const option_group *const groups[] = {&group_encoding, &group_json, &group_help, NULL};

const cli_verb verb_score = {
    .name = "score",
    .operands = "LABELS TRUTH",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "compute AMI, ARI, NMI, purity and the confusion table",
    .description =
        "Compares two lists of labels. Items are matched by id if both files have ids, and "
        "otherwise by row. The files can be csv with a header (the column label, or else the last "
        "column), text with one value per line, npy, idx labels, or npz with labels. Items with a "
        "negative label in either file are ignored. AMI uses the exact "
        "expected mutual information and the arithmetic mean, like scikit-learn.",
    .groups = groups,
    .examples = "ddsc score result/labels.csv truth.csv\ta clustering against the ground truth\n"
                "ddsc score a.csv b.csv --json\ttwo clusterings, machine-readable\n",
    .run = run,
};
