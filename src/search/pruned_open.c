#include "search/pruned.h"

static ddsc_status rooms_open(search *s)
{
    CHECK(MEM_ZERO(s->ctx, s->room, s->n_workers));
    for (int w = 0; w < s->n_workers && s->backend->pruning->cut; w++)
        CHECK(MEM_NEW(s->ctx, s->room[w].potential, s->m->v));
    return DDSC_OK;
}

/* What is asked for or used pair by pair needs tiles of one pair. */
static int64_t find_together(const search *s)
{
    const pair_pruning *rule = s->backend->pruning;
    pair_plan plan = {.tile_side = s->backend->tile_side};
    if (!s->backend->list || !s->backend->plan || rule->last || rule->cut)
        return 0;
    s->backend->plan(s->state, &plan);
    return BASE_MIN(plan.together, PAIRS_TOGETHER);
}

ddsc_status search_open(search *s, const pair_job *job)
{
    ddsc_status status = DDSC_OK;
    ddsc_pair_stats scratch = {0};
    s->n_workers = job->n_workers;
    s->bound = s->backend->pruning->bound;
    TRY(s->bound->open(&s->bound_state, job, &scratch));
    pair_plan plan = {.tile_side = s->bound->tile_side};
    if (s->bound->plan)
        s->bound->plan(s->bound_state, &plan);
    s->bound_side = BASE_MIN(plan.tile_side, BASE_MAX(1, s->n));
    s->together = find_together(s);
    TRY(nearest_create(s->ctx, &s->near, s->n, s->tau));
    TRY(pair_set_create(s->ctx, &s->settled));
    TRY(MEM_NEW(s->ctx, s->limit, s->n));
    TRY(rooms_open(s));
done:
    return status;
}

void search_close(search *s)
{
    for (int w = 0; s->room && w < s->n_workers; w++) {
        mem_free(s->ctx, s->room[w].potential);
        mem_free(s->ctx, s->room[w].tile);
        mem_free(s->ctx, s->room[w].dropped.at);
        mem_free(s->ctx, s->room[w].found.at);
    }
    mem_free(s->ctx, s->room);
    mem_free(s->ctx, s->list);
    mem_free(s->ctx, s->pair);
    mem_free(s->ctx, s->limit);
    mem_free(s->ctx, s->reach);
    mem_free(s->ctx, s->seen);
    mem_free(s->ctx, s->seen_stage);
    pair_set_free(s->ctx, &s->settled);
    nearest_free(s->ctx, &s->near);
    mem_free(s->ctx, s->first);
    if (s->bound_state)
        s->bound->close(s->bound_state);
}
