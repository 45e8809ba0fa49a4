/* Implements Lloyd's algorithm with matrix products and the bounds of Hamerly (2010).
 *
 * If the bounds prove that the center of a row is still the nearest one, the label of the row does
 * not change, and no distance is computed. Sums are computed per block of rows of fixed size and
 * added in a fixed tree, so that the result does not depend on the number of threads. The sums of a
 * block are recomputed only if a label in the block has changed. */
#include <math.h>
#include <string.h>

#include "base/blocks.h"
#include "base/workspace.h"
#include "numeric/kmeans/kmeans.h"
#include "numeric/linalg/linalg.h"

enum { CHUNK_ROWS = 128, PIECE_MIN = 1024, PIECES_MAX = 64, ITERATIONS_MAX = 300 };
/* Minimum number of operations that justifies waking a thread. */
enum { PIECE_WORK = 1 << 22 };

/* Copies of the rows whose distances must be computed. Each worker has one chunk. */
typedef struct lloyd_chunk {
    int64_t n, row[CHUNK_ROWS];
    double *rows; /* CHUNK_ROWS x dim */
    double *dot;  /* CHUNK_ROWS x k */
} lloyd_chunk;

struct lloyd {
    ddsc_context *ctx;
    const kmeans_problem *p;
    bool plain;
    int64_t k;          /* number of centers */
    int64_t piece_rows; /* a multiple of CHUNK_ROWS */
    int64_t n_pieces;
    double *center;   /* k x dim */
    double *before;   /* centers of the previous iteration */
    double *center2;  /* |c|^2 */
    double *moved;    /* k: how far each center moved in the last iteration */
    double *half;     /* k: half the distance to the nearest other center */
    double far, next; /* the two largest of `moved` */
    int64_t far_center;
    double slack; /* rounding error of differences of squared distances */
    int32_t *label;
    double *norm2; /* n: |x|^2 */
    /* n: upper bound on the distance to the row's center; lower bound on the distance to any other
     * center. */
    double *upper, *lower;
    double *sum;    /* one per block: k x dim weighted sums */
    double *mass;   /* one per block: k sums of weights */
    int64_t *count; /* one per block: k counts */
    /* One entry per block: number of labels that changed in this iteration, and number of rows
     * compared with all centers so far. */
    int64_t *changed, *compared;
    double *total;      /* k x dim */
    double *total_mass; /* k */
    int64_t *size;      /* k */
    scratch chunk;      /* lloyd_chunk and its arrays, per worker */
};

/* ---- object ---- */

/* Returns the chunk of a worker, which consists of the struct, the rows and the products. */
static lloyd_chunk *chunk_of(const lloyd *l, int worker)
{
    arena a = {scratch_of(&l->chunk, worker), 0};
    lloyd_chunk *c = arena_take(&a, 1, sizeof *c);
    ARENA_TAKE(&a, c->rows, CHUNK_ROWS * l->p->dim);
    ARENA_TAKE(&a, c->dot, CHUNK_ROWS * l->p->k);
    return c;
}

static ddsc_status chunks_create(lloyd *l)
{
    int64_t bytes = (int64_t)sizeof(lloyd_chunk) + 64 +
                    CHUNK_ROWS * (l->p->dim + l->p->k) * (int64_t)sizeof(double);
    return l->p->alone ? mem_get(l->ctx, &l->chunk.block, bytes, 1)
                       : scratch_create(l->ctx, &l->chunk, bytes, 1);
}

static void measure_norms(lloyd *l)
{
    double largest = 0;
    for (int64_t i = 0; i < l->p->n; i++) {
        const double *row = l->p->rows + i * l->p->dim;
        l->norm2[i] = la_dot(l->p->dim, row, row);
        largest = fmax(largest, l->norm2[i]);
    }
    /* If a center is no longer than the longest row, |c|^2 - 2 x.c has an error of at most a small
     * multiple of dim 2^-53 |x|^2. */
    l->slack = 0x1p-50 * (double)(l->p->dim + 8) * largest;
}

static int64_t lloyd_piece_rows(const kmeans_problem *p)
{
    int64_t rows = BASE_MAX(PIECE_MIN, p->n / PIECES_MAX + 1);
    rows = BASE_MAX(rows, 4 * p->k);
    rows = BASE_MAX(rows, PIECE_WORK / (p->k * p->dim));
    return BASE_ROUND_UP(rows, CHUNK_ROWS);
}

int64_t lloyd_pieces(const kmeans_problem *p)
{
    return (p->n + lloyd_piece_rows(p) - 1) / lloyd_piece_rows(p);
}

ddsc_status lloyd_create(ddsc_context *ctx, lloyd **out, const kmeans_problem *p, bool plain)
{
    ddsc_status status = DDSC_OK;
    lloyd *l = NULL;
    TRY(MEM_ZERO(ctx, l, 1));
    *l = (lloyd){.ctx = ctx, .p = p, .plain = plain};
    l->piece_rows = lloyd_piece_rows(p);
    l->n_pieces = lloyd_pieces(p);
    TRY(MEM_NEW(ctx, l->center, p->k * p->dim));
    TRY(MEM_NEW(ctx, l->before, p->k * p->dim));
    TRY(MEM_NEW(ctx, l->center2, p->k));
    TRY(MEM_NEW(ctx, l->moved, p->k));
    TRY(MEM_NEW(ctx, l->half, p->k));
    TRY(MEM_NEW(ctx, l->label, p->n));
    TRY(MEM_NEW(ctx, l->norm2, p->n));
    TRY(MEM_NEW(ctx, l->upper, p->n));
    TRY(MEM_NEW(ctx, l->lower, p->n));
    TRY(MEM_NEW(ctx, l->sum, l->n_pieces * p->k * p->dim));
    TRY(MEM_NEW(ctx, l->count, l->n_pieces * p->k));
    TRY(MEM_NEW(ctx, l->changed, l->n_pieces));
    TRY(MEM_ZERO(ctx, l->compared, l->n_pieces));
    TRY(MEM_NEW(ctx, l->total, p->k * p->dim));
    TRY(MEM_NEW(ctx, l->size, p->k));
    TRY(MEM_NEW(ctx, l->mass, l->n_pieces * p->k));
    TRY(MEM_NEW(ctx, l->total_mass, p->k));
    TRY(chunks_create(l));
    measure_norms(l);
    *out = l;
    l = NULL;
done:
    lloyd_destroy(l);
    return status;
}

void lloyd_destroy(lloyd *l)
{
    if (!l)
        return;
    MEM_FREE(l->ctx, l->center, l->before, l->center2, l->moved, l->half, l->label, l->norm2,
             l->upper, l->lower, l->sum, l->count, l->changed, l->compared, l->total, l->size,
             l->mass, l->total_mass);
    scratch_free(l->ctx, &l->chunk);
    mem_free(l->ctx, l);
}

double *lloyd_centers(lloyd *l)
{
    return l->center;
}

int64_t lloyd_work(const lloyd *l)
{
    int64_t work = 0;
    for (int64_t piece = 0; piece < l->n_pieces; piece++)
        work += l->compared[piece];
    return work;
}

/* ---- labels ---- */

/* Updates the bounds after the centers moved. Returns true if another center may now be the
 * nearest. */
static bool is_undecided(const lloyd *l, int64_t i)
{
    int32_t c = l->label[i];
    if (l->plain || c < 0)
        return true;
    double upper = l->upper[i] + l->moved[c];
    double lower = l->lower[i] - (c == l->far_center ? l->next : l->far);
    l->upper[i] = upper;
    l->lower[i] = lower;
    double away = BASE_MAX(lower, l->half[c]);
    return !(away > upper && (away - upper) * (away + upper) > l->slack);
}

/* Returns the center with the smallest |c|^2 - 2 x.c, the lowest number among equal ones, and
 * updates the bounds of the row. */
static int32_t own_center(lloyd *l, int64_t i, const double *dot)
{
    int32_t best = 0;
    double least = INFINITY, second = INFINITY;
    for (int64_t c = 0; c < l->k; c++) {
        double v = l->center2[c] - 2 * dot[c];
        if (v < least) {
            second = least;
            least = v;
            best = (int32_t)c;
        } else if (v < second) {
            second = v;
        }
    }
    l->upper[i] = sqrt(fmax(0, l->norm2[i] + least) + l->slack);
    l->lower[i] = sqrt(fmax(0, l->norm2[i] + second - l->slack));
    return best;
}

/* Compares the rows of a chunk with all centers. Returns the number of changed labels. */
static int64_t compare_chunk(lloyd *l, lloyd_chunk *r)
{
    int64_t dim = l->p->dim, changed = 0;
    if (r->n == 0)
        return 0;
    la_gemm(false, true, r->n, l->k, dim, 1, r->rows, dim, l->center, dim, 0, r->dot, l->k);
    for (int64_t at = 0; at < r->n; at++) {
        int64_t i = r->row[at];
        int32_t c = own_center(l, i, r->dot + at * l->k);
        changed += c != l->label[i];
        l->label[i] = c;
    }
    r->n = 0;
    return changed;
}

static void sum_piece(lloyd *l, int64_t begin, int64_t end)
{
    int64_t dim = l->p->dim, piece = begin / l->piece_rows;
    double *sum = l->sum + piece * l->k * dim;
    double *mass = l->mass + piece * l->k;
    int64_t *count = l->count + piece * l->k;
    memset(sum, 0, (size_t)(l->k * dim) * sizeof *sum);
    memset(mass, 0, (size_t)l->k * sizeof *mass);
    memset(count, 0, (size_t)l->k * sizeof *count);
    for (int64_t i = begin; i < end; i++) {
        const double *row = l->p->rows + i * dim;
        double *into = sum + l->label[i] * dim, weight = kmeans_weight(l->p, i);
        count[l->label[i]]++;
        mass[l->label[i]] += weight;
        for (int64_t j = 0; j < dim; j++)
            into[j] += weight * row[j];
    }
}

/* Updates the labels of a block of rows, and the block's contribution to the new centers. */
static ddsc_status assign_piece(void *arg, int64_t begin, int64_t end, int worker)
{
    lloyd *l = arg;
    lloyd_chunk *r = chunk_of(l, worker);
    int64_t piece = begin / l->piece_rows, dim = l->p->dim, changed = 0;
    r->n = 0;
    for (int64_t i = begin; i < end; i++) {
        if (!is_undecided(l, i))
            continue;
        memcpy(r->rows + r->n * dim, l->p->rows + i * dim, (size_t)dim * sizeof *r->rows);
        r->row[r->n++] = i;
        l->compared[piece]++;
        if (r->n == CHUNK_ROWS)
            changed += compare_chunk(l, r);
    }
    changed += compare_chunk(l, r);
    if (changed > 0)
        sum_piece(l, begin, end);
    l->changed[piece] = changed;
    return DDSC_OK;
}

/* ---- centers ---- */

/* Adds the sums of the blocks in a fixed tree. Returns the number of changed labels. */
static int64_t gather_pieces(lloyd *l)
{
    int64_t size = l->k * l->p->dim, changed = 0;
    memset(l->size, 0, (size_t)l->k * sizeof *l->size);
    for (int64_t j = 0; j < size; j++)
        l->total[j] = tree_sum(l->sum + j, l->n_pieces, size);
    for (int64_t c = 0; c < l->k; c++)
        l->total_mass[c] = tree_sum(l->mass + c, l->n_pieces, l->k);
    for (int64_t p = 0; p < l->n_pieces; p++) {
        for (int64_t c = 0; c < l->k; c++)
            l->size[c] += l->count[p * l->k + c];
        changed += l->changed[p];
    }
    return changed;
}

/* Returns the row farthest from its center in a cluster with at least two rows, or -1 if all rows
 * coincide with their center. */
static int64_t farthest(const lloyd *l)
{
    int64_t dim = l->p->dim, worst = -1;
    double most = 0;
    for (int64_t i = 0; i < l->p->n; i++) {
        if (l->size[l->label[i]] < 2)
            continue;
        double d = la_distance2(dim, l->p->rows + i * dim, l->center + l->label[i] * dim);
        if (d > most) {
            most = d;
            worst = i;
        }
    }
    return worst;
}

/* Moves the row that is farthest from its center to each empty cluster. The sums of the affected
 * blocks are recomputed. */
static int64_t fill_empty(lloyd *l)
{
    int64_t dim = l->p->dim, filled = 0;
    for (int32_t c = 0; c < l->k; c++) {
        if (l->size[c] > 0)
            continue;
        int64_t i = farthest(l);
        if (i < 0)
            return filled;
        const double *row = l->p->rows + i * dim;
        l->size[l->label[i]]--;
        memcpy(l->center + c * dim, row, (size_t)dim * sizeof *row);
        l->size[c] = 1;
        l->label[i] = c;
        l->upper[i] = INFINITY;
        int64_t begin = i / l->piece_rows * l->piece_rows;
        sum_piece(l, begin, BASE_MIN(l->p->n, begin + l->piece_rows));
        filled++;
    }
    return filled;
}

/* Computes half the distance from each center to the nearest other center. */
static void measure_gaps(lloyd *l)
{
    int64_t dim = l->p->dim;
    for (int64_t c = 0; c < l->k; c++)
        l->half[c] = INFINITY;
    for (int64_t c = 0; c < l->k; c++)
        for (int64_t b = 0; b < c; b++) {
            double d = 0.5 * sqrt(la_distance2(dim, l->center + b * dim, l->center + c * dim));
            d *= 1 - 1e-12;
            l->half[b] = fmin(l->half[b], d);
            l->half[c] = fmin(l->half[c], d);
        }
}

static void move_centers(lloyd *l)
{
    int64_t dim = l->p->dim;
    l->far = l->next = 0;
    l->far_center = 0;
    for (int64_t c = 0; c < l->k; c++) {
        double *center = l->center + c * dim;
        for (int64_t j = 0; j < dim && l->size[c] > 0; j++)
            center[j] = l->total[c * dim + j] / l->total_mass[c];
        l->center2[c] = la_dot(dim, center, center);
        l->moved[c] = (1 + 1e-12) * sqrt(la_distance2(dim, center, l->before + c * dim));
        if (l->moved[c] > l->far) {
            l->next = l->far;
            l->far = l->moved[c];
            l->far_center = c;
        } else {
            l->next = fmax(l->next, l->moved[c]);
        }
    }
    measure_gaps(l);
    memcpy(l->before, l->center, (size_t)(l->k * dim) * sizeof *l->before);
}

ddsc_status lloyd_run(lloyd *l, int64_t n_centers, const int32_t **labels)
{
    l->k = n_centers;
    memcpy(l->before, l->center, (size_t)(l->k * l->p->dim) * sizeof *l->before);
    for (int64_t i = 0; i < l->p->n; i++)
        l->label[i] = -1;
    for (int64_t c = 0; c < l->k; c++)
        l->center2[c] = la_dot(l->p->dim, l->center + c * l->p->dim, l->center + c * l->p->dim);
    for (int round = 0; round < ITERATIONS_MAX; round++) {
        CHECK(kmeans_pieces(l->ctx, l->p, l->piece_rows, assign_piece, l));
        int64_t changed = gather_pieces(l), filled = fill_empty(l);
        if (filled > 0)
            gather_pieces(l);
        move_centers(l);
        if (changed + filled == 0)
            break;
    }
    *labels = l->label;
    return DDSC_OK;
}
