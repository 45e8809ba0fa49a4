/* Shares a set that the first rank of a team creates with all ranks. */
#include "base/team.h"
#include "data/measures.h"

static void list_texts(team_arrays *a, measures_texts *t)
{
    team_array(a, &t->at, (t->n + 1) * (int64_t)sizeof *t->at);
    team_array(a, &t->text, t->n ? t->at[t->n] : 0);
}

static void list_words(team_arrays *a, measures_words *w)
{
    team_array(a, &w->at, (w->n + 1) * (int64_t)sizeof *w->at);
    team_array(a, &w->text, w->n ? w->at[w->n] : 0);
    team_array(a, &w->vector, w->n * w->d * (int64_t)sizeof *w->vector);
    team_array(a, &w->df, w->n * (int64_t)sizeof *w->df);
    team_array(a, &w->mass, w->mass ? w->n * (int64_t)sizeof *w->mass : 0);
    list_texts(a, &w->phrases);
}

static void list_counts(team_arrays *a, measures_counts *c)
{
    list_texts(a, &c->words);
    team_array(a, &c->offset, (c->n_rows + 1) * (int64_t)sizeof *c->offset);
    int64_t n_entries = c->offset ? c->offset[c->n_rows] : 0;
    team_array(a, &c->word, n_entries * (int64_t)sizeof *c->word);
    team_array(a, &c->count, n_entries * (int64_t)sizeof *c->count);
}

static void share_names(team_arrays *a, measures *m)
{
    team_array(a, &m->row, m->n * (int64_t)sizeof *m->row);
    team_array(a, &m->label, m->n_rows * (int64_t)sizeof *m->label);
    team_array(a, &m->id_at, (m->n_rows + 1) * (int64_t)sizeof *m->id_at);
    team_array(a, &m->id_text, m->id_at ? m->id_at[m->n_rows] : 0);
    team_array(a, &m->number_ids, m->n_rows * NUMBER_ID_SIZE);
    team_array(a, &m->name_at, (m->n_names + 1) * (int64_t)sizeof *m->name_at);
    team_array(a, &m->name_text, m->name_at ? m->name_at[m->n_names] : 0);
    list_texts(a, &m->coordinates);
    list_texts(a, &m->points);
    list_texts(a, &m->titles);
    list_texts(a, &m->meta_names);
    list_texts(a, &m->meta);
    list_words(a, &m->words);
    list_counts(a, &m->counts);
    team_array(a, &m->recipe.step, 3 * m->recipe.n * (int64_t)sizeof *m->recipe.step);
    team_array(a, &m->recipe.value, m->recipe.n_values * (int64_t)sizeof *m->recipe.value);
    list_texts(a, &m->recipe.inputs);
    list_texts(a, &m->recipe.batches);
}

static void list_set(team_arrays *a, void *object)
{
    measures *m = object;
    team_array(a, &m->support, m->v * m->d * (int64_t)sizeof *m->support);
    team_array(a, &m->offset, (m->n + 1) * (int64_t)sizeof *m->offset);
    team_array(a, &m->index, m->nnz * (int64_t)sizeof *m->index);
    team_array(a, &m->weight, m->nnz * (int64_t)sizeof *m->weight);
    share_names(a, m);
}

ddsc_status measures_move(ddsc_context *ctx, measures **set)
{
    ddsc_status status = DDSC_OK;
    measures *m = *set;
    bool first = team_rank(ctx) == 0;
    if (team_size(ctx) == 1)
        return DDSC_OK;
    if (!first)
        TRY(MEM_ZERO(ctx, m, 1));
    TRY(team_first(ctx, m, sizeof *m));
    m->ctx = ctx;
    TRY(team_move(ctx, &m->block, m, list_set));
    *set = m;
done:
    if (status < 0 && !first && m) {
        team_unshare(ctx, m->block);
        mem_free(ctx, m);
    }
    return status;
}

/* Arguments of the function that creates the set on the first rank. */
typedef struct set_maker {
    ddsc_context *ctx;
    measures *set;
    ddsc_measures_fn read;
    void *user;
} set_maker;

/* Runs the caller's function. The public calls of that function must not clear the state of the
 * current call. */
static ddsc_status make_set(void *arg)
{
    set_maker *maker = arg;
    ctx_hold(maker->ctx, true);
    ddsc_status status = maker->read(maker->user, maker->ctx, &maker->set);
    ctx_hold(maker->ctx, false);
    if (status < 0)
        return status;
    if (!maker->set || maker->set->ctx != maker->ctx || maker->set->block)
        return ctx_fail(maker->ctx, DDSC_ERROR_ARGUMENT,
                        "the read function must return a new set that was created with the same "
                        "context");
    return status;
}

ddsc_status ddsc_measures_share(ddsc_context *ctx, ddsc_measures **out, ddsc_measures_fn read,
                                void *user)
{
    ddsc_status status = DDSC_OK;
    CHECK(ctx_enter_new(ctx, out));
    set_maker maker = {ctx, NULL, read, user};
    if (!read)
        return ctx_fail(ctx, DDSC_ERROR_ARGUMENT, "read is NULL");
    TRY(team_by_first(ctx, make_set, &maker));
    TRY(measures_move(ctx, &maker.set));
    *out = maker.set;
    maker.set = NULL;
done:
    ddsc_measures_destroy(maker.set);
    return status;
}
