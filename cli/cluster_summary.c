/* The lines for people. */
#include <inttypes.h>
#include <unistd.h>

#include "cluster.h"
#include "options.h"

enum { MAX_SIZES = 20 };

static void add_head(text *t, const cluster_result *r)
{
    const cli_options *o = &r->s->opt;
    bool bold = message_colours(o->output && !o->json ? STDOUT_FILENO : STDERR_FILENO);
    text_add(t, bold ? "\033[1m" : "");
    text_add_count(t, r->view.n);
    text_addf(t, " items in %" PRId64 " cluster%s", r->view.k, r->view.k == 1 ? "" : "s");
    text_add(t, bold ? "\033[0m" : "");
    if (!r->has_items)
        text_add(t, ", distances as given");
    else if (o->method == METHOD_DDSC)
        text_addf(t, ", metric %s", choice_name(choices_metric, (int)o->metric.metric));
    else
        text_addf(t, ", baseline %s", choice_name(choices_method, o->method));
    text_add(t, "\n");
}

static void add_parameters(text *t, const cluster_result *r)
{
    const ddsc_pair_stats *p = r->view.pairs;
    ddsc_metric metric = r->s->opt.metric.metric;
    bool pairs = r->has_items && r->s->opt.method == METHOD_DDSC;
    text_addf(t, "  parameters   tau %" PRId64 "%s", r->edges.tau,
              r->s->opt.graph.tau ? "" : " (from N)");
    if (r->view.gamma > 0)
        text_addf(t, ", gamma %.4g", r->view.gamma);
    else
        text_add(t, ", gamma by local scaling");
    if (pairs && metric == DDSC_METRIC_SINKHORN)
        text_addf(t, ", epsilon %.4g", p->epsilon);
    if (pairs && metric == DDSC_METRIC_MMD && p->bandwidth > 0)
        text_addf(t, ", bandwidth %.4g", p->bandwidth);
    if (pairs && metric == DDSC_METRIC_LOT)
        text_addf(t, ", reference of %" PRId64 " points", p->reference_size);
    text_add(t, "\n");
}

static void add_pairs(text *t, const cluster_result *r)
{
    const ddsc_pair_stats *p = r->view.pairs;
    if (!r->has_items || r->s->opt.method != METHOD_DDSC)
        return;
    text_add(t, "  pairs        ");
    text_add_count(t, p->n_pairs);
    text_add(t, ", solved ");
    text_add_count(t, p->n_solved);
    if (r->edges.n_columns > 0)
        text_addf(t, " (%" PRId64 " whole columns)", r->edges.n_columns);
    if (p->n_pruned) {
        text_add(t, ", pruned ");
        text_add_count(t, p->n_pruned);
    }
    if (p->n_recall_rows > 0)
        text_addf(t, ", approximate (recall %.3f on %" PRId64 " items)", p->recall,
                  p->n_recall_rows);
    if (p->n_checked > 0)
        text_addf(t, ", off by %.2g in the median of %" PRId64 " pairs", p->check_median,
                  p->n_checked);
    output_add_resumed(t, r->s);
    if (r->s->opt.metric.metric != DDSC_METRIC_MMD)
        text_addf(t, ", largest %s %.1e",
                  r->s->opt.metric.metric == DDSC_METRIC_SINKHORN ? "marginal error"
                                                                  : "duality gap",
                  p->max_gap);
    text_add(t, "\n");
}

static void add_graph(text *t, const cluster_result *r)
{
    const ddsc_k_row *chosen = cluster_chosen(r);
    text_addf(t, "  graph        %" PRId64 " component%s", r->view.n_components,
              r->view.n_components == 1 ? "" : "s");
    if (chosen)
        text_addf(t, "; eigengap %.4g after K = %" PRId64 ", relative %.3g", chosen->gap, chosen->k,
                  chosen->relative_gap);
    text_add(t, "\n");
}

static void add_sizes(text *t, const cluster_result *r)
{
    text_add(t, "  sizes       ");
    for (int64_t c = 0; c < r->view.k && c < MAX_SIZES; c++)
        text_addf(t, " %" PRId64, r->size[c]);
    text_add(t, r->view.k > MAX_SIZES ? " ...\n" : "\n");
    if (r->n_rows > r->view.n)
        text_addf(t, "  dropped      %" PRId64 " items without mass (label -1)\n",
                  r->n_rows - r->view.n);
    if (r->in.compressed)
        text_addf(t,
                  "  merged       supports down to %" PRId64 " points: W2 error mean %.4g, max "
                  "%.4g\n",
                  r->s->opt.compress, r->in.compress.mean_w2, r->in.compress.max_w2);
}

static void add_sweep(text *t, const cluster_result *r)
{
    if (r->view.n_sweep < 2)
        return;
    text_addf(t, "  sweep           K   gap     relative  modularity  stability  sizes%s\n",
              r->sweep_scores ? "        AMI     ARI" : "");
    for (int64_t i = 0; i < r->view.n_sweep; i++) {
        const ddsc_k_row *k = r->view.sweep[i];
        text_addf(
            t, "             %c %4" PRId64 "   %.4f  %8.3f  %10.4f  %9.3f  %4" PRId64 "-%-6" PRId64,
            k->k == r->view.k ? '*' : ' ', k->k, k->gap, k->relative_gap, k->modularity,
            k->stability, k->smallest, k->largest);
        if (r->sweep_scores)
            text_addf(t, "  %.4f  %.4f", r->sweep_scores[i].ami, r->sweep_scores[i].ari);
        text_add(t, "\n");
    }
}

static void add_scores(text *t, const cluster_result *r)
{
    if (!r->truth_name)
        return;
    text_addf(t, "  scores       AMI %.4f, ARI %.4f, NMI %.4f, purity %.4f against %s%s\n",
              r->scores.ami, r->scores.ari, r->scores.nmi, r->scores.purity,
              r->truth_name == r->s->opt.truth || r->s->opt.read.labels_path ? "" : "labels in ",
              r->truth_name);
}

void cluster_summary(text *t, const cluster_result *r)
{
    add_head(t, r);
    if (r->clustering) {
        add_parameters(t, r);
        add_pairs(t, r);
        add_graph(t, r);
    }
    if (r->d2)
        cluster_d2_summary(t, r);
    add_sizes(t, r);
    add_sweep(t, r);
    add_scores(t, r);
    cluster_theory_summary(t, r);
    text_addf(t, "  seconds      %.2f", r->total_s);
    if (r->clustering)
        text_addf(t, " (distances %.2f, eigenvectors %.2f, k-means %.2f)", r->distances_s,
                  r->eigen_s, r->kmeans_s);
    text_add(t, "\n");
    if (!output_is_stdout(r->s->opt.output))
        text_addf(t, "  results      %s\n", r->s->opt.output);
}
