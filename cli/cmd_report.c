/* ddsc report: the page and the pictures of a result that `cluster -o DIR` wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "report_page.h"

typedef struct opened {
    json_t *result;
    int32_t *label, *truth;
    double *xy;
    ddsc_measures *measures;
    report_data data;
} opened;

static bool refuse(const char *path, const char *why, int *code)
{
    message_error("%s: %s", path, why);
    *code = EXIT_INPUT;
    return false;
}

static bool open_result(opened *in, const char *path, int *code)
{
    json_error_t error;
    in->result = json_load_file(path, 0, &error);
    if (!in->result && access(path, R_OK) != 0)
        return refuse(path,
                      "cannot be read; `ddsc report` wants a folder that `ddsc cluster -o` wrote",
                      code);
    if (!in->result) {
        message_error("%s: line %d: %s", path, error.line, error.text);
        *code = EXIT_INPUT;
        return false;
    }
    in->data.result = in->result;
    in->data.n_rows = json_integer_value(json_object_get(in->result, "n"));
    in->data.k = json_integer_value(json_object_get(in->result, "k"));
    if (in->data.n_rows < 1 || in->data.k < 1 || in->data.k > in->data.n_rows)
        return refuse(path, "is not a result of `ddsc cluster`: n and k are missing or wrong",
                      code);
    return true;
}

static bool open_labels(session *s, opened *in, const char *path, int *code)
{
    int64_t n = 0;
    if (!session_ok(s, ddsc_labels_read(s->ctx, &in->label, &n, path), code))
        return false;
    if (n != in->data.n_rows)
        return refuse(path, "does not have as many labels as result.json has items", code);
    for (int64_t i = 0; i < n; i++)
        if (in->label[i] < -1 || in->label[i] >= in->data.k)
            return refuse(path, "has a label that is not one of the K clusters", code);
    in->data.label = in->label;
    return true;
}

/* k-means has no map. */
static bool open_map(session *s, opened *in, const char *path, int *code)
{
    int64_t n = 0, columns = 0;
    if (access(path, F_OK) != 0)
        return true;
    if (!session_ok(s, ddsc_rows_read(s->ctx, &in->xy, &n, &columns, path), code))
        return false;
    if (n != in->data.n_rows || columns != 2)
        return refuse(path, "should have two columns and a row for each item", code);
    in->data.xy = in->xy;
    return true;
}

/* Ids and pictures come from the items kept in the model; without it rows are numbers. */
static bool open_items(session *s, opened *in, const char *path, int *code)
{
    if (access(path, F_OK) == 0) {
        if (!session_ok(s, ddsc_measures_read(s->ctx, &in->measures, path, NULL), code))
            return false;
        in->data.measures = in->measures;
        ddsc_measures_get_view(in->measures, &in->data.items);
    }
    return report_index(&in->data) ||
           refuse(path, "does not have as many items as labels.csv has labels", code);
}

static bool open_truth(session *s, opened *in, const char *path, int *code)
{
    int32_t *truth = NULL;
    int64_t n = 0;
    if (access(path, F_OK) != 0)
        return true;
    bool good = session_ok(s, ddsc_labels_read(s->ctx, &truth, &n, path), code) &&
                (n == in->data.n_rows ||
                 refuse(path, "does not have as many classes as result.json has items", code));
    in->data.truth = in->truth = good ? report_truth(&in->data, truth) : NULL;
    ddsc_release(s->ctx, truth);
    return good;
}

static bool open_dir(session *s, opened *in, const char *dir, int *code)
{
    char *result = output_path(dir, "result.json"), *labels = output_path(dir, "labels.csv");
    char *map = output_path(dir, "map.npy"), *model = output_path(dir, "model.npz");
    char *truth = output_path(dir, "truth.csv");
    bool good = open_result(in, result, code) && open_labels(s, in, labels, code) &&
                open_map(s, in, map, code) && open_items(s, in, model, code) &&
                open_truth(s, in, truth, code);
    free(result);
    free(labels);
    free(map);
    free(model);
    free(truth);
    return good;
}

static void close_dir(session *s, opened *in)
{
    json_decref(in->result);
    report_index_free(&in->data);
    free(in->truth);
    ddsc_release(s->ctx, in->label);
    ddsc_release(s->ctx, in->xy);
    ddsc_measures_destroy(in->measures);
}

static bool file_has(const char *path, const text *t)
{
    FILE *file = fopen(path, "rb");
    bool same = file != NULL;
    for (size_t at = 0; same && at < t->length;) {
        char bytes[4096];
        size_t n = t->length - at < sizeof bytes ? t->length - at : sizeof bytes;
        same = fread(bytes, 1, n, file) == n && memcmp(bytes, t->bytes + at, n) == 0;
        at += n;
    }
    same = same && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}

static bool write_page(session *s, const report_data *d, const char *path, int *code)
{
    text t = {0};
    report_page(&t, d);
    bool good = (!output_is_stdout(path) && file_has(path, &t)) ||
                (output_check_file(s, path, code) && output_text(s, &t, path, false, code));
    text_free(&t);
    if (good && !s->opt.quiet && !output_is_stdout(path))
        printf("report: %s\n", path);
    return good;
}

static bool write_plot(session *s, const plot *p, const char *dir, int *code)
{
    text t = {0}, name = {0};
    const char *why;
    text_addf(&name, "%s.%s", p->name,
              s->opt.plots - 1 == PLOT_PNG   ? "png"
              : s->opt.plots - 1 == PLOT_SVG ? "svg"
                                             : "pdf");
    char *path = output_path(dir, text_get(&name));
    bool good = output_check_file(s, path, code);
    if (good && !plot_render(&t, p, (plot_format)(s->opt.plots - 1), &why)) {
        message_error("%s: %s", path, why);
        *code = EXIT_INTERNAL;
        good = false;
    }
    good = good && output_text(s, &t, path, false, code);
    if (good && !s->opt.quiet)
        printf("picture: %s\n", path);
    text_free(&t);
    text_free(&name);
    free(path);
    return good;
}

static bool write_plots(session *s, const report_data *d, const char *dir, int *code)
{
    bool good = output_make_dir(dir, code);
    for (int c = 0; good && all_charts[c]; c++) {
        plot p;
        if (all_charts[c](&p, d))
            good = write_plot(s, &p, dir, code);
        plot_free(&p);
    }
    return good;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    opened in = {0};
    const char *dir = s->opt.operand[0];
    char *page = output_path(dir, "report.html");
    if (s->opt.plots && s->opt.output && output_is_stdout(s->opt.output))
        code = message_usage(s->verb, "--plots writes several files: -o names their folder");
    else if (!open_dir(s, &in, dir, &code))
        ;
    else if (s->opt.plots)
        write_plots(s, &in.data, s->opt.output ? s->opt.output : dir, &code);
    else
        write_page(s, &in.data, s->opt.output ? s->opt.output : page, &code);
    close_dir(s, &in);
    free(page);
    return code;
}

static const option_group *const groups[] = {&group_plots, &group_page_output, &group_run,
                                             &group_help, NULL};

const cli_verb verb_report = {
    .name = "report",
    .operands = "DIR",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the report page or its pictures from an earlier result",
    .description =
        "Makes report.html again from the folder that `ddsc cluster -o DIR` wrote, or with --plots "
        "each of its pictures (map, representatives, eigenvalues, sizes, neighbours, confusion) as "
        "a file. The page is one file that needs no network.",
    .groups = groups,
    .examples = "ddsc report result -o page.html\tthe page, elsewhere\n"
                "ddsc report result --plots pdf -o figures\tpictures for a paper\n",
    .run = run,
};
