/* ddsc generate: generates synthetic data with known classes. */
#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "json.h"

static bool generate(session *s, ddsc_measures **made, int *code)
{
    const cli_options *o = &s->opt;
    static const char *const kinds[] = {"shapes", "gaussians"};
    static const char *const gaussians_only[] = {"clusters", "dim", "separation"};
    const char *kind = o->operand[0];
    if (strcmp(kind, "gaussians") == 0)
        return session_ok(s,
                          ddsc_measures_generate_gaussians(s->ctx, made, o->generated_clusters,
                                                           o->items, o->points, o->dim,
                                                           o->separation),
                          code);
    if (strcmp(kind, "shapes") != 0) {
        const char *near = suggest(kind, kinds, 2);
        *code =
            message_usage(s->verb, "'%s' is not a kind of data; use shapes or gaussians%s%s%s",
                          kind, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return false;
    }
    for (int i = 0; i < 3; i++)
        if (option_given(o, gaussians_only[i]))
            message_warning(s, "--%s has no effect on shapes", gaussians_only[i]);
    return session_ok(s, ddsc_measures_generate_shapes(s->ctx, made, o->items, o->points), code);
}

static json_t *summary_json(const ddsc_measures_view *view)
{
    json_t *root = json_object();
    json_put_count(root, "n", view->n_rows);
    json_put_count(root, "items", view->n_items);
    json_put_count(root, "dim", view->dim);
    json_put_count(root, "entries", view->n_entries);
    return root;
}

static void summarize(session *s, const ddsc_measures *made, int *code)
{
    text t = {0};
    ddsc_measures_view view;
    ddsc_measures_get_view(made, &view);
    if (s->opt.json)
        json_print(s, summary_json(&view), code);
    text_add_count(&t, view.n_items);
    text_addf(&t, " items of %" PRId64 " points in %" PRId64 " dimensions\n", s->opt.points,
              view.dim);
    output_summary(s, &t);
    text_free(&t);
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    ddsc_measures *made = NULL;
    const cli_options *o = &s->opt;
    if (!output_check(s, true, &code) || !generate(s, &made, &code))
        return code;
    if (session_ok(s,
                   ddsc_measures_write(s->ctx, made, o->output, output_format(s), output_flags(s)),
                   &code))
        summarize(s, made, &code);
    ddsc_measures_destroy(made);
    return code;
}

static const option_group *const groups[] = {&group_generate, &group_file_output, &group_format,
                                             &group_run,      &group_help,        NULL};

const cli_verb verb_generate = {
    .name = "generate",
    .operands = "shapes|gaussians -o OUT.npz",
    .operand_kind = OPERAND_WORD,
    .min_operands = 1,
    .max_operands = 1,
    .summary = "generate synthetic data: shapes or gaussians",
    .description =
        "shapes: squares and circles around one center, with sizes that grow in small steps, as in "
        "the paper. All means are nearly equal, so only the shape distinguishes the classes. "
        "gaussians: items are samples of normal distributions, and each cluster has its own "
        "center. The clusters are stored as "
        "labels.",
    .groups = groups,
    .examples = "ddsc generate shapes -o shapes.npz\t20 squares and 20 circles of 40 points\n"
                "ddsc generate gaussians --clusters 5 --dim 3 --seed 7 -o g.npz\tfive clusters in "
                "three dimensions\n",
    .run = run,
};
