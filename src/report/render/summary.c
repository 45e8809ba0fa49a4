/* Writes the terminal summary. */
#include <inttypes.h>
#include <string.h>

#include "report/render/report.h"
#include "report/traits/traits.h"
#include "report/content/content.h"

/* Maximum number of clusters that get a line each, in the short and in the long summary. */
enum { FEW_CLUSTERS = 10, MANY_CLUSTERS = 100, MAX_TRAITS = 6, TYPICAL = 3 };

static void add_head(buffer *t, const ddsc_report *r)
{
    char space[CONTENT_METRICS];
    const char *cost = content_cost_given(r);
    buffer_add(t, r->headline);
    if (!r->measures)
        buffer_add(t, ", precomputed distances");
    else if (result_by_metric(r))
        buffer_addf(t, ", metric %s%s%s", content_metric_names(r, space), cost ? ", cost " : "",
                    cost ? cost : "");
    else
        buffer_addf(t, ", baseline %s", result_method(r));
    buffer_add(t, "\n");
    const json_t *verdict = json_object_get(r->tree, "verdict");
    const char *text = json_string_value(json_object_get(verdict, "text"));
    const json_t *halves = json_object_get(json_object_get(verdict, "evidence"), "halves_agree");
    if (text)
        buffer_addf(t, "  verdict      %s\n", text);
    if (json_is_number(halves))
        buffer_addf(t, "  stable       halves of the items agree %s on the clusters (%.2f)\n",
                    content_agreement_word(json_number_value(halves)), json_number_value(halves));
}

/* Lists the candidates for K, if K was not specified. */
static void add_candidate_line(buffer *t, const ddsc_report *r)
{
    buffer candidates = {.ctx = t->ctx};
    if (report_add_candidates(&candidates, r) && candidates.status >= 0)
        buffer_addf(t, "  candidates   K = %s\n", candidates.bytes);
    t->status = candidates.status < 0 ? candidates.status : t->status;
    buffer_free(&candidates);
}

static void add_parameters(buffer *t, const ddsc_report *r)
{
    const ddsc_pair_stats *p = &r->pairs;
    bool pairs = result_by_metric(r);
    buffer_addf(t, "  parameters   tau %" PRId64 "%s", r->edges.tau,
                r->plan.graph.tau ? "" : " (from N)");
    if (r->view.n_joined > 0)
        buffer_add(t, ", gamma of each metric");
    else if (r->view.gamma > 0)
        buffer_addf(t, ", gamma %.4g", r->view.gamma);
    else
        buffer_add(t, ", gamma by local scaling");
    if (pairs && content_uses(r, DDSC_METRIC_SINKHORN))
        buffer_addf(t, ", epsilon %.4g", p->epsilon);
    if (pairs && content_uses(r, DDSC_METRIC_MMD) && p->bandwidth > 0)
        buffer_addf(t, ", bandwidth %.4g", p->bandwidth);
    if (pairs && content_uses(r, DDSC_METRIC_LOT))
        buffer_addf(t, ", reference of %" PRId64 " points", p->reference_size);
    buffer_add(t, "\n");
}

/* Lists the metrics that were averaged and their parameters. */
static void add_joined(buffer *t, const ddsc_report *r)
{
    for (int64_t i = 0; i < r->view.n_joined; i++) {
        const ddsc_joined_row *j = r->view.joined[i];
        buffer_addf(t, "%s%s (", i ? ", " : "  joined       ", content_metric_name(j->metric));
        if (j->gamma > 0)
            buffer_addf(t, "gamma %.4g", j->gamma);
        else
            buffer_add(t, "local scaling");
        buffer_addf(t, "%s, %.2f s)", j->hubs_rescaled ? ", hubs rescaled" : "", j->seconds);
    }
    if (r->view.n_joined > 0)
        buffer_addf(t, "; the graph and the map use %s; no model for new items\n",
                    content_metric_name(r->view.joined[0]->metric));
}

static void add_resumed(buffer *t, const ddsc_report *r)
{
    if (r->view.n_resumed == 0)
        return;
    buffer_add(t, ", ");
    buffer_add_count(t, r->view.n_resumed);
    buffer_addf(t, " of them in earlier runs (%s)", r->view.resume);
}

/* Reports the error of the distances that were estimated from a sample of pairs. */
static void add_filled(buffer *t, const ddsc_report *r)
{
    for (int64_t i = 0; i < r->view.n_details; i++)
        if (strcmp(r->view.details[i].name, "filled_error") == 0)
            buffer_addf(t, ", the others estimated (median error %.2g of their spread)",
                        r->view.details[i].value);
}

static void add_pairs(buffer *t, const ddsc_report *r)
{
    const ddsc_pair_stats *p = &r->pairs;
    if (!result_by_metric(r))
        return;
    buffer_add(t, "  pairs        ");
    buffer_add_count(t, p->n_pairs);
    buffer_add(t, ", solved ");
    buffer_add_count(t, p->n_solved);
    if (r->edges.n_columns > 0)
        buffer_addf(t, " (%" PRId64 " whole columns)", r->edges.n_columns);
    add_filled(t, r);
    if (p->n_pruned) {
        buffer_add(t, ", pruned ");
        buffer_add_count(t, p->n_pruned);
    }
    if (p->n_recall_rows > 0)
        buffer_addf(t,
                    ", approximate (recall at least %.3f with 95%% confidence; %.3f on %" PRId64
                    " sampled items)",
                    p->recall_low, p->recall, p->n_recall_rows);
    if (p->n_checked > 0)
        buffer_addf(t, ", median error %.2g on %" PRId64 " pairs", p->check_median, p->n_checked);
    add_resumed(t, r);
    if (r->plan.metric.metric != DDSC_METRIC_MMD || r->view.n_joined > 0)
        buffer_addf(t, ", largest %s %.1e",
                    r->plan.metric.metric == DDSC_METRIC_SINKHORN ? "marginal error"
                                                                  : "duality gap",
                    p->max_gap);
    buffer_add(t, "\n");
}

static void add_graph(buffer *t, const ddsc_report *r)
{
    const ddsc_k_row *chosen = result_chosen(r);
    buffer_addf(t, "  graph        %" PRId64 " component%s", r->view.n_components,
                r->view.n_components == 1 ? "" : "s");
    if (chosen)
        buffer_addf(t, "; eigengap %.4g after K = %" PRId64 ", relative %.3g", chosen->gap,
                    chosen->k, chosen->relative_gap);
    if (r->view.hubs_rescaled)
        buffer_addf(t,
                    "\n  hubs         one item was a neighbor of %" PRId64 " of %" PRId64
                    " items, now of %" PRId64 ": neighbors chosen by rescaled distance",
                    r->view.plain_in_degree_largest, r->view.n, r->view.in_degree_largest);
    buffer_add(t, "\n");
}

static void add_transforms(buffer *t, const ddsc_report *r)
{
    const char *name, *column = ddsc_measures_get_batch(r->measures, 0);
    for (int64_t k = 0; (name = ddsc_measures_get_transform(r->measures, k)); k++)
        buffer_addf(t, "%s%s", k ? ", " : "  transforms   ", name);
    if (column)
        buffer_addf(t, " (of %s)", column);
    buffer_add(t, ddsc_measures_get_transform(r->measures, 0) ? "\n" : "");
}

static void add_left_out(buffer *t, const ddsc_report *r)
{
    if (r->n_rows > r->view.n)
        buffer_addf(t, "  dropped      %" PRId64 " items without mass (label -1)\n",
                    r->n_rows - r->view.n);
    if (r->n_outlying > 0)
        buffer_addf(t, "  outliers     %" PRId64 " item%s far from all others (%s)\n",
                    r->n_outlying, r->n_outlying == 1 ? " is" : "s are",
                    r->from.outliers ? "label -1, in no cluster"
                                     : "marked in items.csv; --outliers gives them label -1");
    json_int_t repeated = json_integer_value(json_object_get(r->tree, "repeated"));
    if (repeated > 0)
        buffer_addf(t,
                    "  repeated     %" JSON_INTEGER_FORMAT
                    " item%s the title of an earlier item (listed once)\n",
                    repeated, repeated == 1 ? " has" : "s have");
}

static void add_merged(buffer *t, const ddsc_report *r)
{
    if (r->origin.compress)
        buffer_addf(t,
                    "  merged       supports down to %" PRId64 " points: W2 error mean %.4g, max "
                    "%.4g\n",
                    r->origin.compress_points, r->compress.mean_w2, r->compress.max_w2);
    if (r->origin.compress && r->compress.n_pairs > 0)
        buffer_addf(
            t,
            "               on %" PRId64 " pairs of %" PRId64
            " items, D changes by %.2g%% (median) and %.2g%% (95%% quantile), and %.0f%% of "
            "the %" PRId64 " nearest neighbors stay the same\n",
            r->compress.n_pairs, r->compress.n_items, 100 * r->compress.error_median,
            100 * r->compress.error_95, 100 * r->compress.kept, r->compress.n_near);
}

/* Adds the ids of typical items, for a cluster that has neither words nor markers. */
static void add_typical(buffer *t, const json_t *cluster)
{
    const json_t *shown = json_object_get(cluster, "representatives");
    for (size_t i = 0; i < json_array_size(shown) && i < TYPICAL; i++) {
        const char *id = json_string_value(json_object_get(json_array_get(shown, i), "id"));
        buffer_addf(t, "%s%s", i ? ", " : ": typical ", id ? id : "");
    }
}

/* Adds a line such as "cluster 3   120 items: words". */
static void add_cluster(buffer *t, const ddsc_report *r, int64_t c, bool first)
{
    char name[32];
    const json_t *cluster = json_array_get(json_object_get(r->tree, "clusters"), (size_t)c);
    buffer traits = {.ctx = t->ctx};
    const char *given = json_string_value(json_object_get(cluster, "name"));
    snprintf(name, sizeof name, "cluster %" PRId64, c);
    buffer_addf(t, "  %-12s ", name);
    if (given && *given)
        buffer_addf(t, "%s, ", given);
    buffer_add_count(t, r->size[c]);
    buffer_add(t, r->size[c] == 1 ? " item" : " items");
    traits_add(&traits, cluster, MAX_TRAITS);
    if (traits.status < 0)
        t->status = traits.status;
    else if (traits.length > 0)
        buffer_addf(t, ": %s%s", traits.bytes,
                    first && json_object_get(cluster, "markers") ? " (standard deviations)" : "");
    else
        add_typical(t, cluster);
    buffer_add(t, "\n");
    buffer_free(&traits);
}

static void add_cluster_lines(buffer *t, const ddsc_report *r, int64_t most)
{
    int64_t shown = 0, n_clusters = 0;
    for (int64_t c = 0; c < r->k; c++) {
        if (r->from.update && r->size[c] == 0)
            continue; /* the number belonged to a cluster that vanished */
        if (n_clusters++ < most)
            add_cluster(t, r, c, shown++ == 0);
    }
    if (n_clusters > most)
        buffer_addf(t, "               and %" PRId64 " more\n", n_clusters - most);
}

/* Adds the first sentence of the recommended next step. */
static void add_next(buffer *t, const ddsc_report *r)
{
    if (!r->from.clustering || !r->verdict || !content_has_next_step(r))
        return;
    ddsc_verdict_view v;
    ddsc_verdict_get_view(r->verdict, &v);
    const ddsc_level_words *words = ddsc_level_get_words(v.level);
    const char *end = words ? strstr(words->next_step, ". ") : NULL;
    if (words && *words->next_step)
        buffer_addf(t, "  next         %.*s\n",
                    end ? (int)(end - words->next_step) + 1 : (int)strlen(words->next_step),
                    words->next_step);
}

static void add_goes_with(buffer *t, const ddsc_report *r)
{
    const json_t *about = json_object_get(r->tree, "about");
    bool any = false;
    for (size_t i = 0; i < json_array_size(about); i++) {
        const json_t *row = json_array_get(about, i);
        if (traits_is_association(row)) {
            buffer_add(t, any ? ", " : "  associated   ");
            traits_add_about(t, row);
            any = true;
        }
    }
    buffer_add(t, any ? "\n" : "");
}

static void add_sweep(buffer *t, const ddsc_report *r)
{
    if (r->view.n_sweep < 2)
        return;
    buffer_addf(t, "  sweep           K   gap     relative  modularity  stability  sizes%s\n",
                r->sweep_scores ? "        AMI     ARI" : "");
    for (int64_t i = 0; i < r->view.n_sweep; i++) {
        const ddsc_k_row *k = r->view.sweep[i];
        buffer_addf(
            t, "             %c %4" PRId64 "   %.4f  %8.3f  %10.4f  %9.3f  %4" PRId64 "-%-6" PRId64,
            k->k == r->k ? '*' : ' ', k->k, k->gap, k->relative_gap, k->modularity, k->stability,
            k->smallest, k->largest);
        if (r->sweep_scores)
            buffer_addf(t, "  %.4f  %.4f", r->sweep_scores[i].ami, r->sweep_scores[i].ari);
        buffer_add(t, "\n");
    }
}

static void add_scores(buffer *t, const ddsc_report *r)
{
    if (!r->scored)
        return;
    buffer_addf(t, "  scores       AMI %.4f, ARI %.4f, NMI %.4f, purity %.4f against %s%s",
                r->scores.ami, r->scores.ari, r->scores.nmi, r->scores.purity,
                r->origin.truth_name ? "" : "labels in ",
                r->origin.truth_name ? r->origin.truth_name : "the input");
    if (r->scores.n < r->view.n)
        buffer_addf(t, ", on the %" PRId64 " items that have a class%s", r->scores.n,
                    r->from.outliers && r->n_outlying > 0 ? " and are not outliers" : "");
    buffer_add(t, "\n");
}

static void add_centers(buffer *t, const ddsc_report *r)
{
    const ddsc_d2_view *c = &r->centers;
    buffer_addf(t,
                "  centers      %" PRId64 " points each; objective %.6g, from %.6g in %" PRId64
                " steps\n  transports   ",
                c->center_size, c->objective[c->n_objective - 1], c->objective[0],
                c->n_objective - 1);
    buffer_add_count(t, c->n_solved);
    buffer_add(t, " solved of ");
    buffer_add_count(t, c->n_pairs);
    buffer_add(t, " items x centers\n");
}

static void add_resamples(buffer *t, const ddsc_report *r)
{
    const ddsc_stability_view *v = &r->trust;
    if (v->n > 0)
        buffer_addf(t,
                    "  stability    ARI %.3f, |sin Theta| %.3g of %.3g, mean of %" PRId64
                    " resamples; %" PRId64 " items changed cluster\n",
                    v->mean->ari, v->mean->sin_theta, v->sin_limit, v->n_resamples, v->n_ever);
}

static void add_neighbor_classes(buffer *t, const ddsc_report *r)
{
    const ddsc_theory *c = &r->theory;
    if (c->n_intra + c->n_inter > 0)
        buffer_addf(
            t,
            "  classes      %.1f%% of the neighbors have the same class; components %" PRId64
            ", classes %" PRId64 "\n",
            100 * (double)c->n_intra / (double)(c->n_intra + c->n_inter), c->n_components,
            c->n_classes);
}

/* Stages whose share of the total time is smaller are listed only in result.json. */
static const double STAGE_SHOWN = 0.05;

static void add_seconds(buffer *t, const ddsc_report *r)
{
    content_times now = content_times_now(r);
    double cpu = 0;
    int64_t told = 0;
    for (int64_t i = 0; i < now.n; i++)
        cpu += now.list[i].cpu;
    buffer_addf(t, "  seconds      %.2f, CPU %.2f (", now.total, cpu);
    for (int64_t i = 1; i <= now.n; i++) {
        double wall = i < now.n ? now.list[i].wall : now.other;
        if (wall >= STAGE_SHOWN * now.total)
            buffer_addf(t, "%s%s %.2f", told++ ? ", " : "", now.list[i % now.n].name, wall);
    }
    buffer_add(t, ")\n");
}

static void add_details(buffer *t, const ddsc_report *r)
{
    if (r->from.clustering) {
        add_parameters(t, r);
        add_joined(t, r);
        add_pairs(t, r);
        add_graph(t, r);
    }
    if (r->from.d2)
        add_centers(t, r);
    add_transforms(t, r);
    add_merged(t, r);
    add_goes_with(t, r);
    add_sweep(t, r);
    add_neighbor_classes(t, r);
    add_seconds(t, r);
}

void report_summary(buffer *t, const ddsc_report *r, bool details)
{
    add_head(t, r);
    add_candidate_line(t, r);
    add_cluster_lines(t, r, details ? MANY_CLUSTERS : FEW_CLUSTERS);
    add_left_out(t, r);
    add_scores(t, r);
    add_resamples(t, r);
    add_next(t, r);
    if (details)
        add_details(t, r);
}
