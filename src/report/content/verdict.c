/* Writes the verdict and its evidence to the key "verdict". The texts come from verdict_levels.c,
 * and verdict.c adds a text about outliers. */
#include <math.h>

#include "report/content/content.h"

const char *content_agreement_word(double halves)
{
    return halves >= 0.9 ? "almost always" : halves >= 0.7 ? "mostly" : "poorly";
}

bool content_judged(const ddsc_report *r)
{
    ddsc_verdict_view v;
    ddsc_verdict_get_view(r->verdict, &v);
    return v.judged;
}

bool content_has_next_step(const ddsc_report *r)
{
    const json_t *sizes = json_object_get(json_object_get(r->tree, "sizes"), "clusters"), *size;
    json_int_t largest = 0;
    size_t c;
    json_array_foreach(sizes, c, size)
    {
        largest = BASE_MAX(largest, json_integer_value(size));
    }
    return json_array_size(sizes) > 1 && largest > 1 &&
           json_object_get(json_object_get(r->tree, "verdict"), "evidence");
}

static void put_evidence(ddsc_report *r, json_t *verdict, const ddsc_verdict_view *v)
{
    json_t *evidence = put_object(r, verdict, "evidence");
    put_text(r, evidence, "method", "gaps of the neighbor graph around each cluster");
    put_real(r, evidence, "score", v->score);
    put_real(r, evidence, "clear_from", v->clear_from);
    if (isfinite(v->held_out_score)) {
        put_real(r, evidence, "held_out_score", v->held_out_score);
        put_real(r, evidence, "held_out_from", v->held_out_from);
    }
    put_count(r, evidence, "clusters_parted", v->n_parted);
    put_count(r, evidence, "items_parted", v->items_parted);
    put_count(r, evidence, "components", v->n_components);
    put_real(r, evidence, "chance_of_a_tear", v->chance);
    put_real(r, evidence, "halves_agree", v->halves_agree);
    put_real(r, evidence, "halves_from", v->halves_from);
    put_real(r, evidence, "starts_agree", v->starts_agree);
    put_real(r, evidence, "step_ratio", v->step_ratio);
    put_real(r, evidence, "step_ratio_from", v->step_ratio_from);
    if (isfinite(v->items_alike_p))
        put_real(r, evidence, "items_alike_p", v->items_alike_p);
    json_t *list = put_array(r, evidence, "clusters");
    for (int64_t c = 0; c < v->k; c++) {
        const ddsc_verdict_row *g = v->rows[c];
        json_t *row = g->examined ? put_row(r, list) : NULL;
        if (!row)
            continue;
        put_count(r, row, "label", c);
        put_real(r, row, "valley", g->valley);
        put_real(r, row, "items_across", g->items);
        put_real(r, row, "score", g->score);
        put_real(r, row, "score_from", g->score_from);
        if (isfinite(g->held_out))
            put_real(r, row, "held_out_score", g->held_out);
        put_bool(r, row, "separate", g->separate);
    }
}

/* Writes "text", which is the headline followed by the details. */
static void put_sentences(ddsc_report *r, json_t *verdict, const ddsc_verdict_view *v)
{
    put_value(r, verdict, "text",
              json_sprintf("%s%s%s", v->headline, *v->detail ? " " : "", v->detail));
}

void content_put_verdict(ddsc_report *r, json_t *root)
{
    ddsc_verdict_view v;
    ddsc_verdict_get_view(r->verdict, &v);
    json_t *verdict = put_object(r, root, "verdict");
    const ddsc_level_words *words = ddsc_level_get_words(v.level);
    put_text(r, verdict, "level", words->name);
    put_text(r, verdict, "color", words->color);
    put_text(r, verdict, "structure", ddsc_structure_get_words(v.structure)->name);
    put_sentences(r, verdict, &v);
    if (v.judged)
        put_evidence(r, verdict, &v);
}
