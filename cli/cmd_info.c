/* ddsc info: describes the contents of a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "json.h"

typedef struct facts {
    int64_t smallest, median, largest; /* support sizes of the items */
    int64_t n_shared; /* number of support points that belong to more than one item */
    int64_t n_classes, n_unlabeled;
    int64_t *class_size; /* by label */
    int32_t largest_label;
    json_t *problems; /* array of strings */
    struct coordinate {
        double low, high;
        bool of_items; /* constant within each item, but not across items */
    } * coordinate;
    ddsc_units units; /* buffer of the arrays spread, share and outliers */
    double *scales;   /* 3 x dim: storage for the arrays of units */
} facts;

static int compare_sizes(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void count_sizes(facts *f, const ddsc_measures_view *v)
{
    int64_t *size = cli_allocate((size_t)v->n_items, sizeof *size);
    for (int64_t i = 0; i < v->n_items; i++)
        size[i] = v->offset[i + 1] - v->offset[i];
    qsort(size, (size_t)v->n_items, sizeof *size, compare_sizes);
    if (v->n_items) {
        f->smallest = size[0];
        f->median = size[v->n_items / 2];
        f->largest = size[v->n_items - 1];
    }
    free(size);
}

static void count_shared(facts *f, const ddsc_measures_view *v)
{
    unsigned char *seen = cli_allocate((size_t)v->n_support, 1);
    for (int64_t p = 0; p < v->n_entries; p++) {
        unsigned char *times = &seen[v->index[p]];
        f->n_shared += *times == 1;
        *times = *times < 2 ? (unsigned char)(*times + 1) : 2;
    }
    free(seen);
}

static void count_classes(facts *f, const ddsc_measures_view *v)
{
    f->largest_label = -1;
    if (!v->label)
        return;
    for (int64_t r = 0; r < v->n_rows; r++)
        f->largest_label = v->label[r] > f->largest_label ? v->label[r] : f->largest_label;
    if ((int64_t)f->largest_label > 100 * v->n_rows + 1000)
        f->largest_label =
            -1; /* so many values are unlikely to be classes, so no table is created */
    f->class_size = cli_allocate((size_t)f->largest_label + 1, sizeof *f->class_size);
    for (int64_t r = 0; r < v->n_rows; r++) {
        f->n_unlabeled += v->label[r] < 0;
        if (v->label[r] >= 0 && v->label[r] <= f->largest_label)
            f->n_classes += f->class_size[v->label[r]]++ == 0;
    }
}

static void count_coordinates(facts *f, const ddsc_measures_view *v)
{
    f->coordinate = cli_allocate((size_t)v->dim, sizeof *f->coordinate);
    for (int64_t k = 0; k < v->dim; k++) {
        const double *x = v->support + k;
        struct coordinate c = {.low = x[0], .high = x[0], .of_items = v->n_entries > v->n_items};
        for (int64_t p = 0; p < v->n_support; p++) {
            c.low = x[p * v->dim] < c.low ? x[p * v->dim] : c.low;
            c.high = x[p * v->dim] > c.high ? x[p * v->dim] : c.high;
        }
        for (int64_t i = 0; c.of_items && i < v->n_items; i++) {
            double first = x[v->index[v->offset[i]] * v->dim];
            for (int64_t p = v->offset[i] + 1; c.of_items && p < v->offset[i + 1]; p++)
                c.of_items = !(x[v->index[p] * v->dim] < first || x[v->index[p] * v->dim] > first);
        }
        c.of_items = c.of_items && c.low < c.high;
        f->coordinate[k] = c;
    }
}

static bool measure_scales(session *s, facts *f, const cli_input *in, int *code)
{
    int64_t d = in->view.dim;
    f->scales = cli_allocate(3 * (size_t)d, sizeof *f->scales);
    ddsc_units_init(&f->units);
    f->units.spread = f->scales;
    f->units.share = f->scales + d;
    f->units.outliers = f->scales + 2 * d;
    return session_ok(s, ddsc_units_run(s->ctx, &f->units, in->measures), code);
}

static const char *coordinate_remark(const struct coordinate *c)
{
    if (!(c->low < c->high))
        return "constant";
    return c->of_items ? "constant within each item; perhaps an id rather than a coordinate" : "";
}

/* Adds a table of the coordinates: range, standard deviation, share of the squared distances
 * between points, and share of the variance that is due to the most extreme 1% of the points. If
 * there are many coordinates without names, as in word vectors, only coordinates with a remark are
 * listed. */
static void add_coordinates(text *t, const cli_input *in, const facts *f)
{
    enum { SHOWN = 100, UNNAMED = 20 };
    int64_t shown = 0, dim = in->view.dim;
    for (int64_t k = 0; k < dim && shown <= SHOWN; k++) {
        const char *name = ddsc_measures_get_coordinate_name(in->measures, k);
        const struct coordinate *c = &f->coordinate[k];
        const char *remark = coordinate_remark(c);
        char number[32];
        if (!name && (dim == 1 || in->view.is_grid || (!*remark && dim > UNNAMED)))
            continue;
        snprintf(number, sizeof number, "coordinate %" PRId64, k + 1);
        if (!shown)
            text_add(t, "coordinates           range                    spread     share of the "
                        "distances, 1% of the points\n");
        if (shown++ < SHOWN) {
            char range[64];
            snprintf(range, sizeof range, "%.6g to %.6g", c->low, c->high);
            text_addf(t, "  %-20s %-24s %-10.4g %5.1f%%  %5.1f%%%s%s\n", name ? name : number,
                      range, f->units.spread[k], 100 * f->units.share[k],
                      100 * f->units.outliers[k], *remark ? "  " : "", remark);
        } else {
            text_add(t, "  ...\n");
        }
    }
}

static json_t *coordinates_json(const facts *f, const cli_input *in)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < in->view.dim; k++) {
        const char *name = ddsc_measures_get_coordinate_name(in->measures, k);
        const struct coordinate *c = &f->coordinate[k];
        json_t *row = json_object();
        json_put(row, "name", name ? json_from_text(name) : json_null());
        json_put_real(row, "low", c->low);
        json_put_real(row, "high", c->high);
        json_put_real(row, "spread", f->units.spread[k]);
        json_put_real(row, "share", f->units.share[k]);
        json_put_real(row, "outliers", f->units.outliers[k]);
        json_put_bool(row, "constant", !(c->low < c->high));
        json_put_bool(row, "one_value_per_item", c->of_items);
        json_add(list, row);
    }
    return list;
}

static void add_problem(facts *f, int64_t count, const char *words)
{
    text t = {0};
    if (count > 0) {
        text_add_count(&t, count);
        text_addf(&t, " %s", words);
        json_add(f->problems, json_from_text(text_get(&t)));
    }
    text_free(&t);
}

static void find_problems(facts *f, const ddsc_measures_view *v)
{
    int64_t single = 0;
    for (int64_t i = 0; i < v->n_items; i++)
        single += v->offset[i + 1] - v->offset[i] == 1;
    f->problems = json_array();
    add_problem(f, v->n_rows - v->n_items, "items have no mass and were dropped");
    add_problem(f, v->n_zero_dropped, "points have weight zero and were dropped");
    add_problem(f, v->n_merged, "points duplicate another point of their item and were merged");
    add_problem(f, single, "items have a single point");
    if (v->label)
        add_problem(f, f->n_unlabeled, "items have no label");
}

static void add_grid(text *t, const ddsc_measures_view *v)
{
    text_add(t, "regular grid of ");
    for (int64_t c = 0; c < v->dim && c < 3; c++)
        text_addf(t, "%s%" PRId64, c ? " x " : "", v->grid_shape[c]);
    text_add(t, " cells");
}

static void add_classes(text *t, const facts *f, const cli_input *in)
{
    int64_t shown = 0;
    text_addf(t, "labels       %" PRId64 " classes:", f->n_classes);
    for (int32_t c = 0; c <= f->largest_label && shown < 30; c++) {
        if (!f->class_size[c])
            continue;
        const char *name = ddsc_measures_get_label_name(in->measures, c);
        if (name)
            text_addf(t, "%s %s %" PRId64, shown ? "," : "", name, f->class_size[c]);
        else
            text_addf(t, "%s %" PRId32 " (%" PRId64 ")", shown ? "," : "", c, f->class_size[c]);
        shown++;
    }
    text_add(t, shown < f->n_classes ? ", ...\n" : "\n");
}

/* Adds " (batches of COLUMN: a, b, ...)". */
static void add_batches(text *t, const ddsc_measures *m)
{
    const char *name;
    for (int64_t k = 0; (name = ddsc_measures_get_batch(m, k)); k++)
        if (k < 10)
            text_addf(t, "%s%s", k == 0 ? " (batches of " : k == 1 ? ": " : ", ", name);
        else if (k == 10)
            text_add(t, ", ...");
    text_add(t, ddsc_measures_get_batch(m, 0) ? ")" : "");
}

static void add_facts(text *t, const session *s, const cli_input *in, const facts *f)
{
    const ddsc_measures_view *v = &in->view;
    text_add(t, "items        ");
    text_add_count(t, v->n_items);
    text_addf(t, "\ndimensions   %" PRId64 "\npoints       ", v->dim);
    text_add_count(t, v->n_entries);
    text_addf(t, " in total; an item has %" PRId64 " to %" PRId64 ", median %" PRId64 "\n",
              f->smallest, f->largest, f->median);
    text_add(t, "support      ");
    text_add_count(t, v->n_support);
    text_add(t, " distinct points, ");
    text_add_count(t, f->n_shared);
    text_add(t, " of them shared by several items\n");
    if (v->is_grid) {
        text_add(t, "grid         ");
        add_grid(t, v);
        text_add(t, "\n");
    }
    if (v->n_words) {
        text_add(t, "words        ");
        text_add_count(t, v->n_words);
        text_add(t, " with vectors fitted to the documents\n");
    }
    if (v->label)
        add_classes(t, f, in);
    else
        text_add(t, "labels       none\n");
    for (int64_t k = 0; ddsc_measures_get_transform(in->measures, k); k++)
        text_addf(t, "%s%s", k ? ", " : "transforms   ",
                  ddsc_measures_get_transform(in->measures, k));
    add_batches(t, in->measures);
    text_add(t, ddsc_measures_get_transform(in->measures, 0) ? "\n" : "");
    for (int64_t k = 0; ddsc_measures_get_meta_name(in->measures, k); k++)
        text_addf(t, "%s%s", k ? ", " : "metadata     ",
                  ddsc_measures_get_meta_name(in->measures, k));
    text_add(t, ddsc_measures_get_meta_name(in->measures, 0) ? "\n" : "");
    add_coordinates(t, in, f);
    device_words device = device_look();
    if (device.there)
        text_addf(t, "device       cuda, %s\n", device.about);
    text_add(t, "memory       ");
    text_add_size(t, (double)ddsc_context_get_peak_memory(s->ctx));
    text_add(t, "\n");
    size_t n = json_array_size(f->problems);
    text_add(t, n ? "problems\n" : "problems     none\n");
    for (size_t i = 0; i < n; i++)
        text_addf(t, "  %s\n", json_string_value(json_array_get(f->problems, i)));
}

static json_t *classes_json(const facts *f, const cli_input *in)
{
    json_t *classes = json_array();
    for (int32_t c = 0; c <= f->largest_label; c++) {
        if (!f->class_size[c])
            continue;
        json_t *row = json_object();
        const char *name = ddsc_measures_get_label_name(in->measures, c);
        json_put_count(row, "label", c);
        if (name)
            json_put_text(row, "name", name);
        json_put_count(row, "size", f->class_size[c]);
        json_add(classes, row);
    }
    return classes;
}

/* Warns if a few coordinates account for nearly all of the distances. */
static void put_units(json_t *root, const cli_input *in, const ddsc_units *u)
{
    static const char *const advice[] = {"none", "standard", "arcsinh or log1p", "rank"};
    json_t *units = json_put_object(root, "units");
    const char *widest =
        u->widest < 0 ? NULL : ddsc_measures_get_coordinate_name(in->measures, u->widest);
    json_put_bool(units, "differ", u->advice != DDSC_UNITS_FINE);
    json_put_text(units, "advice", advice[u->advice]);
    json_put_count(units, "small", u->n_small);
    json_put_count(units, "widest", u->widest);
    json_put(units, "widest_name", widest ? json_from_text(widest) : json_null());
    json_put_real(units, "jump", u->jump);
}

static json_t *to_json(const session *s, const cli_input *in, const facts *f)
{
    const ddsc_measures_view *v = &in->view;
    json_t *root = json_object(), *sizes;
    json_put_count(root, "n", v->n_rows);
    json_put_count(root, "items", v->n_items);
    json_put_count(root, "dim", v->dim);
    json_put_count(root, "d", v->dim);
    json_put_count(root, "entries", v->n_entries);
    json_put_count(root, "support", v->n_support);
    json_put_count(root, "shared", f->n_shared);
    sizes = json_put_object(root, "support_sizes");
    json_put_count(sizes, "min", f->smallest);
    json_put_count(sizes, "median", f->median);
    json_put_count(sizes, "max", f->largest);
    json_put_bool(root, "is_shared", f->n_shared > 0);
    json_put_bool(root, "is_grid", v->is_grid);
    json_t *shape = json_put_array(root, "grid_shape");
    for (int64_t c = 0; v->is_grid && c < v->dim && c < 3; c++)
        json_add(shape, json_integer(v->grid_shape[c]));
    json_put_count(root, "words", v->n_words);
    json_put(root, "coordinates", coordinates_json(f, in));
    put_units(root, in, &f->units);
    json_t *transforms = json_put_array(root, "transforms");
    for (int64_t k = 0; ddsc_measures_get_transform(in->measures, k); k++)
        json_add(transforms, json_string(ddsc_measures_get_transform(in->measures, k)));
    json_t *batches = json_put_array(root, "batches");
    for (int64_t k = 0; ddsc_measures_get_batch(in->measures, k); k++)
        json_add(batches, json_from_text(ddsc_measures_get_batch(in->measures, k)));
    json_t *meta = json_put_array(root, "meta");
    for (int64_t k = 0; ddsc_measures_get_meta_name(in->measures, k); k++)
        json_add(meta, json_from_text(ddsc_measures_get_meta_name(in->measures, k)));
    json_put_bool(root, "has_point_names", ddsc_measures_get_point_name(in->measures, 0) != NULL);
    json_put_bool(root, "has_titles", ddsc_measures_get_title(in->measures, 0) != NULL);
    json_put_bool(root, "has_labels", v->label != NULL);
    json_put(root, "classes", classes_json(f, in));
    json_put_count(root, "dropped_items", v->n_rows - v->n_items);
    json_put_count(root, "zero_weights", v->n_zero_dropped);
    json_put_count(root, "merged", v->n_merged);
    device_words device = device_look();
    json_t *about = json_put_object(root, "device");
    json_put_text(about, "name", device.there ? "cuda" : "cpu");
    json_put_text(about, "about", device.there ? device.about : "");
    json_put(root, "problems", json_incref(f->problems));
    json_put_count(root, "memory", ddsc_context_get_peak_memory(s->ctx));
    return root;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    cli_input in = {0};
    facts f = {0};
    if (!input_open(s, &in, &code))
        return code;
    count_sizes(&f, &in.view);
    count_shared(&f, &in.view);
    count_classes(&f, &in.view);
    find_problems(&f, &in.view);
    count_coordinates(&f, &in.view);
    if (!measure_scales(s, &f, &in, &code))
        goto done;
    if (f.units.advice != DDSC_UNITS_FINE)
        add_problem(&f, f.units.n_small,
                    "coordinates spread less than 1/20 of the widest and have almost no effect");
    if (s->opt.json) {
        json_print(s, to_json(s, &in, &f), &code);
    } else {
        text t = {0};
        add_facts(&t, s, &in, &f);
        output_print(s, &t, &code);
    }
done:
    json_decref(f.problems);
    free(f.scales);
    free(f.class_size);
    free(f.coordinate);
    input_close(&in);
    return code;
}

static const option_group *const groups[] = {
    &group_json,      &group_input, &group_input_format, &group_table,
    &group_transform, &group_run,   &group_help,         NULL};

const cli_verb verb_info = {
    .name = "info",
    .operands = "INPUT...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "describe the contents and problems of a file",
    .description = "Reads a file like the other verbs and reports its contents: items, dimensions, "
                   "support sizes, whether points are shared or on a grid, classes, names and "
                   "ranges of the coordinates, and repaired problems. If the file cannot be used, "
                   "the exit code is 3, and the message gives the location of the error.",
    .groups = groups,
    .examples = "ddsc info clouds.npz\thuman-readable\n"
                "ddsc info clouds.npz --json\tmachine-readable\n",
    .run = run,
};
