/* Exchanges messages between the ranks of a pruned search.
 *
 * Each rank owns the lists and heaps of a contiguous range of rows. Choices, bounds and values of
 * pairs, and pairs found by the walk, are sent to the owners of both items. A cut is sent to the
 * owner of its item. The pairs of a round are divided evenly among the ranks, regardless of which
 * rank proposed them.
 *
 * All updates are commutative: bounds are combined by their maximum, heaps keep the smallest values
 * under a total order, and each item records a choice once. The result therefore does not depend on
 * the order of messages, and the graph is the same for any number of ranks. A round sends O(pairs)
 * records, and for each cut one float per row of the support table. */
#include <string.h>

#include "neighbors/search/pruned.h"

/* Header of a cut message. The header is followed by one float per row of the support table. */
typedef struct cut_message {
    double unit, constant;
    int64_t item;
} cut_message;

ddsc_status pruned_team_open(pruned *s)
{
    int64_t potential = s->p->offer.level[BOUND_CUT] ? s->p->m->v * (int64_t)sizeof(float) : 0;
    s->own = team_own(s->ctx, s->n, block_rows(s->n));
    s->alone = team_size(s->ctx) == 1;
    if (s->alone)
        return DDSC_OK;
    CHECK(team_queue_open(s->ctx, &s->messages, sizeof(pair_message)));
    CHECK(team_queue_open(s->ctx, &s->found_messages, sizeof(found_pair)));
    CHECK(team_queue_open(s->ctx, &s->cuts,
                          (int64_t)sizeof(cut_message) + BASE_ROUND_UP(potential, 8)));
    return scratch_create(s->ctx, &s->cut_record, s->cuts.record, 1);
}

void pruned_team_close(pruned *s)
{
    team_queue_close(&s->messages);
    team_queue_close(&s->found_messages);
    team_queue_close(&s->cuts);
    scratch_free(s->ctx, &s->cut_record);
}

static int owner_of(const pruned *s, int64_t item)
{
    return team_owner(s->ctx, s->n, block_rows(s->n), item);
}

/* ---- messages about pairs ---- */

ddsc_status pruned_send(pruned *s, int64_t item, int64_t other, double value, int worker)
{
    pair_message message = {value, (int32_t)item, (int32_t)other};
    return team_queue_put(&s->messages, worker, owner_of(s, item), &message);
}

typedef struct delivery {
    pruned *s;
    message_fn fn;
} delivery;

static ddsc_status deliver_range(void *arg, int64_t begin, int64_t end, int worker)
{
    const delivery *h = arg;
    const pair_message *messages = (const pair_message *)(const void *)h->s->messages.in;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        h->fn(h->s, &messages[k]);
    return DDSC_OK;
}

ddsc_status pruned_deliver(pruned *s, message_fn fn)
{
    CHECK(team_queue_deliver(&s->messages));
    return parallel_for(s->ctx, s->messages.n_in, 256, deliver_range, &(delivery){s, fn});
}

/* ---- assigning pairs to ranks ---- */

/* Returns the number of the first pair in a rank's share of `total` pairs. */
static int64_t share_begin(int64_t total, int rank, int size)
{
    return total / size * rank + total % size * rank / size;
}

/* Returns how many of the pairs first .. first + n - 1 belong to the share of a rank. */
static int64_t in_share(int64_t total, int rank, int size, int64_t first, int64_t n)
{
    int64_t begin = BASE_MAX(first, share_begin(total, rank, size));
    return BASE_MAX(0, BASE_MIN(first + n, share_begin(total, rank + 1, size)) - begin);
}

/* Sums both counts over all ranks. */
static ddsc_status count_round(pruned *s, int64_t *count)
{
    int size = team_size(s->ctx);
    count[2 * team_rank(s->ctx)] = s->n_pairs;
    count[2 * team_rank(s->ctx) + 1] = s->own_left;
    CHECK(team_gather(s->ctx, count, size, 1, 2 * (int64_t)sizeof *count));
    s->n_round = s->n_left = 0;
    for (int r = 0; r < size; r++) {
        s->n_round += count[2 * r];
        s->n_left += count[2 * r + 1];
    }
    return DDSC_OK;
}

ddsc_status pruned_divide(pruned *s)
{
    ddsc_status status = DDSC_OK;
    int size = team_size(s->ctx), rank = team_rank(s->ctx);
    int64_t *count = NULL, *bytes = NULL, first = 0, before = 0, unit = sizeof *s->pair;
    pair_ij *out = NULL;
    s->n_round = s->n_pairs;
    s->n_left = s->own_left;
    if (s->alone)
        return DDSC_OK;
    TRY(MEM_NEW(s->ctx, count, 2 * size));
    TRY(MEM_NEW(s->ctx, bytes, 2 * size));
    TRY(count_round(s, count));
    if (s->n_round == 0)
        goto done;
    for (int r = 0; r < rank; r++)
        first += count[2 * r];
    for (int r = 0; r < size; r++) {
        bytes[r] = in_share(s->n_round, r, size, first, s->n_pairs) * unit;
        bytes[size + r] = in_share(s->n_round, rank, size, before, count[2 * r]) * unit;
        before += count[2 * r];
    }
    TRY(MEM_COPY(s->ctx, out, s->pair, s->n_pairs));
    s->n_pairs = share_begin(s->n_round, rank + 1, size) - share_begin(s->n_round, rank, size);
    TRY(MEM_RESERVE(s->ctx, s->pair, &s->pair_capacity, s->n_pairs));
    TRY(team_exchange(s->ctx, out, bytes, s->pair, bytes + size));
done:
    MEM_FREE(s->ctx, out, bytes, count);
    return status;
}

/* ---- cuts ---- */

ddsc_status pruned_send_cut(pruned *s, int64_t item, const pair_cut *cut, int worker)
{
    cut_message head = {cut->unit, cut->constant, item};
    char *record = scratch_of(&s->cut_record, worker);
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, cut->potential, (size_t)s->p->m->v * sizeof *cut->potential);
    return team_queue_put(&s->cuts, worker, owner_of(s, item), record);
}

static ddsc_status cut_range(void *arg, int64_t begin, int64_t end, int worker)
{
    pruned *s = arg;
    for (int64_t k = begin; k < end; k++) {
        char *record = s->cuts.in + k * s->cuts.record;
        cut_message head;
        memcpy(&head, record, sizeof head);
        pair_cut cut = {head.unit, head.constant, (float *)(void *)(record + sizeof head)};
        pruned_apply_cut(s, head.item, &cut, worker);
    }
    return DDSC_OK;
}

ddsc_status pruned_deliver_cuts(pruned *s)
{
    if (s->alone || !s->p->offer.level[BOUND_CUT])
        return DDSC_OK;
    CHECK(team_queue_deliver(&s->cuts));
    return parallel_for(s->ctx, s->cuts.n_in, 1, cut_range, s);
}

/* ---- pairs found in the walk ---- */

static ddsc_status send_found_pair(pruned *s, const found_pair *e, int worker)
{
    int at_i = owner_of(s, e->i), at_j = owner_of(s, e->j);
    found_pair part = *e;
    if (at_i == at_j)
        return team_queue_put(&s->found_messages, worker, at_i, e);
    part.at_j = false;
    if (e->at_i)
        CHECK(team_queue_put(&s->found_messages, worker, at_i, &part));
    part.at_i = false;
    part.at_j = true;
    return e->at_j ? team_queue_put(&s->found_messages, worker, at_j, &part) : DDSC_OK;
}

ddsc_status pruned_send_found(pruned *s)
{
    if (s->alone)
        return DDSC_OK;
    for (int w = 0; w < s->p->n_workers; w++) {
        for (int64_t k = 0; k < s->found[w].n; k++)
            CHECK(send_found_pair(s, &s->found[w].at[k], w));
        s->found[w].n = 0;
    }
    CHECK(team_queue_deliver(&s->found_messages));
    found_list *to = &s->found[0];
    CHECK(MEM_RESERVE(s->ctx, to->at, &to->capacity, s->found_messages.n_in));
    to->n = s->found_messages.n_in;
    if (to->n > 0)
        memcpy(to->at, s->found_messages.in, (size_t)to->n * sizeof *to->at);
    return DDSC_OK;
}
