/* The barycenter baselines of `cluster`. */
#include <inttypes.h>

#include "cluster.h"
#include "options.h"

bool cluster_run_d2(cluster_result *r, int *code)
{
    session *s = r->s;
    const cli_options *o = &s->opt;
    double began = cli_now();
    ddsc_d2_settings set;
    ddsc_d2_settings_init(&set);
    set.k = o->cluster.k_min;
    set.method =
        o->method == METHOD_PD2 ? DDSC_BARYCENTER_PROJECTED : (ddsc_barycenter_method)o->barycenter;
    set.support_size = o->centre_size;
    if (o->restarts)
        set.restarts = o->restarts;
    if (!session_ok(s, ddsc_d2_run(s->ctx, &r->d2, r->in.measures, &set), code))
        return false;
    ddsc_d2_get_view(r->d2, &r->centres);
    cluster_plain_view(r, r->centres.n, r->centres.k, r->centres.labels);
    r->kmeans_s = cli_now() - began;
    return true;
}

void cluster_d2_settings_json(json_t *root, const cluster_result *r)
{
    const cli_options *o = &r->s->opt;
    if (o->method == METHOD_D2)
        json_put_text(root, "barycenter", choice_name(choices_barycenter, o->barycenter));
    json_put_count_or_auto(root, "centre_size", o->centre_size);
    json_put_count_or_auto(root, "restarts", o->restarts);
}

void cluster_d2_json(json_t *root, const cluster_result *r)
{
    const ddsc_d2_view *c = &r->centres;
    json_put_real(root, "objective", c->objective[c->n_objective - 1]);
    json_t *list = json_put_array(root, "objectives");
    for (int64_t i = 0; i < c->n_objective; i++)
        json_add(list, json_real(c->objective[i]));
    json_t *centres = json_put_object(root, "centres");
    json_put_count(centres, "points", c->center_size);
    json_put_count(centres, "steps", c->n_objective - 1);
    json_put_count(centres, "restart", c->restart);
    json_put_count(centres, "pairs", c->n_pairs);
    json_put_count(centres, "solved", c->n_solved);
}

void cluster_d2_summary(text *t, const cluster_result *r)
{
    const ddsc_d2_view *c = &r->centres;
    text_addf(t,
              "  centres      %" PRId64 " points each; objective %.6g, from %.6g in %" PRId64
              " steps\n  transports   ",
              c->center_size, c->objective[c->n_objective - 1], c->objective[0],
              c->n_objective - 1);
    text_add_count(t, c->n_solved);
    text_add(t, " solved of ");
    text_add_count(t, c->n_pairs);
    text_add(t, " items times centres\n");
}
