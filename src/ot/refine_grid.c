#include "ot/refine_grid.h"

#include "base/simd.h"

enum { CHUNK = 4 }; /* vectors held at once for each of two rows */

typedef float lanes __attribute__((vector_size(4 * GRID_LANES)));
typedef int32_t lane_whole __attribute__((vector_size(4 * GRID_LANES)));
typedef uint32_t lane_bits __attribute__((vector_size(4 * GRID_LANES)));

SIMD_INLINE lanes load(const float *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

SIMD_INLINE void store(float *to, lanes x)
{
    memcpy(to, &x, sizeof x);
}

SIMD_INLINE void sum_block(const grid_mix *x, int64_t r, int64_t c, const int n_vectors)
{
    const float *coef0 = x->coef + r * x->row_step, *coef1 = coef0 + x->row_step;
    const float *in = x->in + c;
    lanes row0[CHUNK], row1[CHUNK];
    for (int k = 0; k < n_vectors; k++)
        row0[k] = row1[k] = (lanes){0};
    for (int64_t s = 0; s < x->n; s++, in += x->stride)
        for (int k = 0; k < n_vectors; k++) {
            lanes value = load(in + k * GRID_LANES);
            row0[k] += coef0[s * x->step] * value;
            row1[k] += coef1[s * x->step] * value;
        }
    for (int k = 0; k < n_vectors; k++) {
        store(x->out + r * x->ld + c + k * GRID_LANES, row0[k]);
        store(x->out + (r + 1) * x->ld + c + k * GRID_LANES, row1[k]);
    }
}

/* Full chunks, then what is left, with the number of vectors a constant in each call. */
SIMD_CLONES void grid_mix_sum(const grid_mix *x)
{
    for (int64_t c = 0; c < x->lanes; c += CHUNK * GRID_LANES) {
        int64_t n_vectors = (x->lanes - c) / GRID_LANES;
        for (int64_t r = 0; r < x->rows; r += 2)
            if (n_vectors >= 4)
                sum_block(x, r, c, 4);
            else if (n_vectors == 3)
                sum_block(x, r, c, 3);
            else if (n_vectors == 2)
                sum_block(x, r, c, 2);
            else
                sum_block(x, r, c, 1);
    }
}

/* out = min(out, c0 + in0, ..., c3 + in3): one pass over out for four terms. */
SIMD_INLINE void lower_by_four(float *restrict out, int64_t n, const float *const in[4],
                               const float coef[4])
{
    const float *in0 = in[0], *in1 = in[1], *in2 = in[2], *in3 = in[3];
    float c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
    for (int64_t k = 0; k < n; k++) {
        float a = c0 + in0[k], b = c1 + in1[k], c = c2 + in2[k], d = c3 + in3[k];
        a = b < a ? b : a;
        c = d < c ? d : c;
        a = c < a ? c : a;
        out[k] = a < out[k] ? a : out[k];
    }
}

SIMD_CLONES void grid_mix_min(const grid_mix *x)
{
    int64_t n_lanes = x->lanes / GRID_LANES * GRID_LANES; /* known to be whole vectors */
    for (int64_t r = 0; r < x->rows; r++) {
        float *out = x->out + r * x->ld;
        for (int64_t k = 0; k < n_lanes; k++)
            out[k] = __builtin_inff();
        for (int64_t s = 0; s < x->n; s += 4) {
            const float *in[4];
            float coef[4];
            for (int64_t k = 0; k < 4; k++) {
                int64_t at = s + k < x->n ? s + k : x->n - 1;
                in[k] = x->in + at * x->stride;
                coef[k] = x->coef[r * x->row_step + at * x->step];
            }
            lower_by_four(out, n_lanes, in, coef);
        }
    }
}

SIMD_CLONES void scaling_relax(float *v, const float *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float plain = 1 / sums[k];
        v[k] = plain * __builtin_sqrtf(plain / v[k]);
    }
}

SIMD_CLONES void scaling_average(float *s, const float *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        s[k] = __builtin_sqrtf(s[k] / sums[k]);
}

SIMD_CLONES void scaling_square(float *u, const float *self, const float *next, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float bare = u[k] / self[k];
        u[k] = bare * bare * next[k];
    }
}

/* Exponent, and 2 atanh((m - 1) / (m + 1)) by its series on mantissas m in [sqrt(1/2), sqrt(2)]. */
SIMD_INLINE lanes logarithm(lanes x)
{
    lane_whole exponent = (lane_whole)((lane_bits)x - 0x3f3504f3) >> 23;
    lanes m = (lanes)((lane_bits)x - ((lane_bits)exponent << 23));
    lanes z = (m - 1) / (m + 1), z2 = z * z;
    lanes series = 1 + z2 * (1.0f / 3 + z2 * (1.0f / 5 + z2 * (1.0f / 7)));
    return __builtin_convertvector(exponent, lanes) * 0x1.62e43p-1f + 2 * z * series;
}

SIMD_CLONES void scaling_log(float *f, const float *u, const float *self, float epsilon, int64_t n)
{
    for (int64_t k = 0; k < n; k += GRID_LANES)
        store(f + k, epsilon * logarithm(load(u + k) / load(self + k)));
}
