#include "ot/refine_grid.h"

#include "base/simd.h"

enum { CHUNK = 4 }; /* vectors held at once for each of two rows */

SIMD_INLINE void sum_block(const grid_mix *x, int64_t r, int64_t c, const int n_vectors)
{
    const double *coef0 = x->coef + r * x->row_step, *coef1 = coef0 + x->row_step;
    const double *in = x->in + c;
    simd_f64 row0[CHUNK], row1[CHUNK];
    for (int k = 0; k < n_vectors; k++)
        row0[k] = row1[k] = simd_all(0);
    for (int64_t s = 0; s < x->n; s++, in += x->stride)
        for (int k = 0; k < n_vectors; k++) {
            simd_f64 value = simd_load(in + k * SIMD_LANES);
            row0[k] += coef0[s * x->step] * value;
            row1[k] += coef1[s * x->step] * value;
        }
    for (int k = 0; k < n_vectors; k++) {
        simd_store(x->out + r * x->ld + c + k * SIMD_LANES, row0[k]);
        simd_store(x->out + (r + 1) * x->ld + c + k * SIMD_LANES, row1[k]);
    }
}

/* Full chunks, then what is left, with the number of vectors a constant in each call. */
SIMD_CLONES void grid_mix_sum(const grid_mix *x)
{
    for (int64_t c = 0; c < x->lanes; c += CHUNK * SIMD_LANES) {
        int64_t n_vectors = (x->lanes - c) / SIMD_LANES;
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
SIMD_INLINE void lower_by_four(double *restrict out, int64_t n, const double *const in[4],
                               const double coef[4])
{
    const double *in0 = in[0], *in1 = in[1], *in2 = in[2], *in3 = in[3];
    double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
    for (int64_t k = 0; k < n; k++) {
        double a = c0 + in0[k], b = c1 + in1[k], c = c2 + in2[k], d = c3 + in3[k];
        a = b < a ? b : a;
        c = d < c ? d : c;
        a = c < a ? c : a;
        out[k] = a < out[k] ? a : out[k];
    }
}

SIMD_CLONES void grid_mix_min(const grid_mix *x)
{
    for (int64_t r = 0; r < x->rows; r++) {
        double *out = x->out + r * x->ld;
        for (int64_t k = 0; k < x->lanes; k++)
            out[k] = __builtin_inf();
        for (int64_t s = 0; s < x->n; s += 4) {
            const double *in[4];
            double coef[4];
            for (int64_t k = 0; k < 4; k++) {
                int64_t at = s + k < x->n ? s + k : x->n - 1;
                in[k] = x->in + at * x->stride;
                coef[k] = x->coef[r * x->row_step + at * x->step];
            }
            lower_by_four(out, x->lanes, in, coef);
        }
    }
}
