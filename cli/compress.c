/* --compress: merges the points of each item, and prints how much the distances change. */
#include <inttypes.h>

#include "cli.h"
#include "options.h"

/* Returns true if the distances of the run depend only on the merged points and the settings. */
static bool has_distances(const session *s)
{
    const cli_options *o = &s->opt;
    return verb_has_option(s->verb, "metric") && o->method == METHOD_DDSC && !o->reference &&
           !o->cost_file;
}

/* Returns the metric of the run, or NULL. With --like, this is the metric of the earlier result. */
static const ddsc_metric_settings *metric_of(const session *s)
{
    ddsc_model_view model;
    if (!has_distances(s))
        return NULL;
    if (!s->like)
        return &s->set.metric;
    ddsc_model_get_view(s->like, &model);
    return model.metric_settings;
}

/* Adds a fraction as a percentage with at least two digits. */
static void add_percent(text *t, double fraction)
{
    text_addf(t, fraction < 0.095 ? "%.2g%%" : "%.0f%%", 100 * fraction);
}

static void add_accuracy(text *t, const session *s, const ddsc_compress_report *m)
{
    text_addf(t,
              "at most %" PRId64 " point%s per item. On %" PRId64 " pairs of %" PRId64
              " items, D changes by ",
              m->n_points, m->n_points == 1 ? "" : "s", m->n_pairs, m->n_items);
    add_percent(t, m->error_median);
    text_add(t, " (median; 95% quantile: ");
    add_percent(t, m->error_95);
    text_addf(t, "), and %.0f%% of the %" PRId64 " nearest neighbors stay the same", 100 * m->kept,
              m->n_near);
    if (s->opt.compress < 0 && m->kept < s->opt.compress_keep)
        text_addf(t, ", fewer than the %.0f%% requested", 100 * s->opt.compress_keep);
}

static void report(const session *s, const ddsc_compress_report *m)
{
    text t = {0};
    if (m->n_points == 0)
        text_add(&t, "no points were merged, because this requires at least 3 items with a mean of "
                     "32 points or more per item; use --compress M");
    else if (m->n_pairs > 0)
        add_accuracy(&t, s, m);
    if (t.length > 0)
        message_note(s, "compress: ", text_get(&t));
    text_free(&t);
}

ddsc_status input_compress(session *s, ddsc_compress_report *m, ddsc_measures **copy,
                           const ddsc_measures *set)
{
    const cli_options *o = &s->opt;
    const ddsc_metric_settings *metric = metric_of(s);
    ddsc_status status;
    ddsc_compress_report_init(m);
    if (o->compress > 0 && !metric)
        return ddsc_measures_compress(s->ctx, copy, m, set, o->compress);
    if (o->compress > 0)
        status = ddsc_measures_compress_for(s->ctx, copy, m, set, metric, o->compress, 1);
    else
        status = ddsc_measures_compress_for(s->ctx, copy, m, set, metric, 0, o->compress_keep);
    if (status >= 0 && !o->quiet)
        report(s, m);
    return status;
}
