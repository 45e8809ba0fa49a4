/* ddsc convert: converts between formats, and optionally subsamples or compresses the data. */
#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "json.h"

static json_t *summary_json(const session *s, const cli_input *in)
{
    const ddsc_pair_stats none = {.struct_size = sizeof none};
    ddsc_report_source from = json_source(s, &none);
    ddsc_report_origin origin = json_origin(in);
    from.origin = &origin;
    json_t *root = json_object(), *told = json_run(s, &from);
    json_put_count(root, "n", in->view.n_rows);
    json_put_count(root, "items", in->view.n_items);
    json_put_count(root, "dim", in->view.dim);
    json_put_count(root, "entries", in->view.n_entries);
    json_take(root, told, "compress");
    json_decref(told);
    return root;
}

static void summary(const session *s, const cli_input *in)
{
    text t = {0};
    text_add_count(&t, in->view.n_items);
    text_addf(&t, " items, ");
    text_add_count(&t, in->view.n_entries);
    text_addf(&t, " weighted points in %" PRId64 " dimensions\n", in->view.dim);
    if (in->view.n_items < in->view.n_rows) {
        text_add_count(&t, in->view.n_rows - in->view.n_items);
        text_add(&t, in->view.n_rows - in->view.n_items == 1 ? " item" : " items");
        text_add(&t, " without mass dropped\n");
    }
    if (in->merging.n_points > 0) {
        text_add(&t, "supports merged from ");
        text_add_count(&t, in->merging.n_before);
        text_add(&t, " to ");
        text_add_count(&t, in->merging.n_after);
        text_addf(&t, " points: W2 error mean %.6g, max %.6g\n", in->merging.mean_w2,
                  in->merging.max_w2);
    }
    output_summary(s, &t);
    text_free(&t);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    const cli_options *o = &s->opt;
    if (!output_check(s, true, &code) || !input_open(s, &in, &code))
        return code;
    ddsc_format format = output_format(s);
    if (session_ok(s, ddsc_measures_write(s->ctx, in.measures, o->output, format, output_flags(s)),
                   &code)) {
        code = session_exit(s);
        if (o->json)
            json_print(s, summary_json(s, &in), &code);
        summary(s, &in);
    }
    input_close(&in);
    return code;
}

static const option_spec format_options[] = {
    {.name = "format",
     .kind = OPTION_OTHER,
     .parse = value_convert_format,
     .argument = "npz|csv|tsv|d2|h5ad",
     .help = "format of the output (default: by the file name's ending, else npz); h5ad: read "
             "INPUT as HDF5 regardless of its name"},
    {.name = NULL}};
static const option_group group_convert = {"Format", format_options};

static const option_group *const groups[] = {&group_file_output, &group_convert,   &group_input,
                                             &group_table,       &group_transform, &group_subset,
                                             &group_run,         &group_help,      NULL};

const cli_verb verb_convert = {
    .name = "convert",
    .operands = "INPUT... -o OUTPUT",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "convert between formats, optionally merging supports",
    .description = "Reads any format (npz, npy, csv, tsv, idx, d2, fcs, h5ad, images, point "
                   "clouds; optionally compressed with gzip or zstd), which is detected by "
                   "content. If INPUT is a folder, reads all files in it; subfolders are classes. "
                   "Writes npz, csv, tsv or d2, depending on the ending of OUTPUT. Weights are "
                   "normalized, equal points are merged, and points with weight zero are dropped.",
    .groups = groups,
    .examples =
        "ddsc convert images-idx3-ubyte.gz --labels labels-idx1-ubyte.gz -o images.npz\timages as "
        "distributions on their pixels\n"
        "ddsc convert clouds.npz --compress 16 -o small.npz\tat most 16 points per item\n"
        "ddsc convert photos/ --as colors -o photos.npz\timages as color histograms\n"
        "ddsc convert a.fcs b.fcs --channels 3,5,7 --arcsinh 5 -o cells.npz\tone item per file\n",
    .run = run,
};
