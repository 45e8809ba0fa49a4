/* Inner loops for the refined bounds in single precision: kernel products, (min, +) products,
 * exponentials and logarithms.
 *
 * The scaling iterations only compute approximate potentials. Any f gives a feasible pair (f^cc,
 * f^c), so errors in the potentials weaken the bound but never invalidate it. The last c-transforms
 * compute minima of c - f over one side, and the caller bounds and subtracts their rounding errors.
 * Floats are therefore accurate enough, and a vector contains twice as many floats as doubles.
 *
 * On a grid, both kinds of products are computed along one axis at a time, with the sums or minima
 * for a block of rows in registers. exp uses 2^n 2^r with the Taylor series of 2^r (relative error
 * 2e-7), and log uses 2 atanh((m - 1) / (m + 1)). A transform takes O(h w (h + w)) operations on
 * boxes of h x w cells, and O(n m) on lists of points. */
#include "distance/bound/refined_kernels.h"

enum { CHUNK = 4 }; /* number of vectors in registers for each of two rows */

_Static_assert(sizeof(simd_f32) == BOUND_VECTOR * sizeof(float), "one vector");

/* ---- grids ---- */

/* Returns the smaller value in each lane. Compilers turn the selection of single lanes into one
 * minimum instruction. */
SIMD_INLINE simd_f32 lesser(simd_f32 x, simd_f32 y)
{
    simd_f32 z;
    for (int k = 0; k < BOUND_VECTOR; k++)
        z[k] = x[k] < y[k] ? x[k] : y[k];
    return z;
}

/* Computes one or two rows by `n_vectors` vectors, with the sums in registers. */
SIMD_INLINE void mix_rows(const grid_mix *x, float *out, const float *coef0, const float *in,
                          const int n_vectors, const bool two, const bool min)
{
    const float *coef1 = coef0 + x->row_step;
    simd_f32 row0[CHUNK], row1[CHUNK];
    for (int k = 0; k < n_vectors; k++)
        row0[k] = row1[k] = (simd_f32){0} + (min ? __builtin_inff() : 0);
    for (int64_t s = 0; s < x->n; s++, in += x->in_step)
        for (int k = 0; k < n_vectors; k++) {
            simd_f32 value = simd_load_f32(in + k * BOUND_VECTOR);
            float c0 = coef0[s * x->step];
            row0[k] = min ? lesser(c0 + value, row0[k]) : row0[k] + c0 * value;
            if (two) {
                float c1 = coef1[s * x->step];
                row1[k] = min ? lesser(c1 + value, row1[k]) : row1[k] + c1 * value;
            }
        }
    for (int k = 0; k < n_vectors; k++) {
        simd_store_f32(out + k * BOUND_VECTOR, row0[k]);
        if (two)
            simd_store_f32(out + x->width + k * BOUND_VECTOR, row1[k]);
    }
}

/* Processes full chunks, then the remaining vectors. The number of vectors in each call is
 * constant. */
SIMD_INLINE void mix_floats(const grid_mix *x, float *out, const float *coef, const float *in,
                            const bool two, const bool min)
{
    for (int64_t c = 0; c < x->width; c += CHUNK * BOUND_VECTOR, in += CHUNK * BOUND_VECTOR) {
        int64_t n_vectors = (x->width - c) / BOUND_VECTOR;
        for (int64_t r = 0; r < x->rows; r += 2) {
            float *to = out + r * x->width + c;
            const float *by = coef + r * x->row_step;
            if (n_vectors >= 4)
                mix_rows(x, to, by, in, 4, two, min);
            else if (n_vectors == 3)
                mix_rows(x, to, by, in, 3, two, min);
            else if (n_vectors == 2)
                mix_rows(x, to, by, in, 2, two, min);
            else
                mix_rows(x, to, by, in, 1, two, min);
        }
    }
}

SIMD_CLONES void bound_mix_sum(const grid_mix *x, float *out, const float *coef, const float *in)
{
    mix_floats(x, out, coef, in, true, false);
}

SIMD_CLONES void bound_mix_min(const grid_mix *x, float *out, const float *coef, const float *in)
{
    mix_floats(x, out, coef, in, true, true);
}

/* ---- dense ---- */

SIMD_CLONES void bound_dense_distances(float *restrict out, const float *x, const float *restrict y,
                                       int64_t d, int64_t ld)
{
    for (int64_t j = 0; j < ld; j++)
        out[j] = 0;
    for (int64_t k = 0; k < d; k++)
        for (int64_t j = 0; j < ld; j++) {
            float gap = x[k] - y[k * ld + j];
            out[j] += gap * gap;
        }
}

/* Processes four rows at a time, because with a single row each addition would wait for the
 * previous one. */
SIMD_CLONES void bound_dense_column_sums(float *restrict out, const float *restrict a,
                                         const float *v, int64_t rows, int64_t ld)
{
    int64_t i = 0;
    for (int64_t j = 0; j < ld; j++)
        out[j] = 0;
    for (; i + 4 <= rows; i += 4, a += 4 * ld)
        for (int64_t j = 0; j < ld; j++)
            out[j] += (v[i] * a[j] + v[i + 1] * a[ld + j]) +
                      (v[i + 2] * a[2 * ld + j] + v[i + 3] * a[3 * ld + j]);
    for (; i < rows; i++, a += ld)
        for (int64_t j = 0; j < ld; j++)
            out[j] += v[i] * a[j];
}

SIMD_INLINE float vector_sum(simd_f32 x)
{
    return SIMD_SUM(x);
}

SIMD_CLONES void bound_dense_row_sums(float *out, const float *a, const float *v, int64_t rows,
                                      int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, a += ld) {
        simd_f32 even = {0}, odd = {0};
        int64_t j = 0;
        for (; j + 2 * BOUND_VECTOR <= ld; j += 2 * BOUND_VECTOR) {
            even += simd_load_f32(a + j) * simd_load_f32(v + j);
            odd += simd_load_f32(a + j + BOUND_VECTOR) * simd_load_f32(v + j + BOUND_VECTOR);
        }
        if (j < ld)
            even += simd_load_f32(a + j) * simd_load_f32(v + j);
        out[i] = vector_sum(even + odd);
    }
}

SIMD_CLONES void bound_dense_column_minima(float *out, const float *a, const float *f, int64_t rows,
                                           int64_t ld)
{
    mix_floats(&(grid_mix){.rows = 1, .width = ld, .step = 1, .in_step = ld, .n = rows}, out, f, a,
               false, true);
}

/* Selects with masks because the compiler does not turn `lesser` into a minimum instruction
 * here. */
SIMD_CLONES void bound_dense_row_minima(float *out, const float *a, const float *g, int64_t rows,
                                        int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, a += ld) {
        simd_f32 least = (simd_f32){0} + __builtin_inff();
        for (int64_t j = 0; j < ld; j += BOUND_VECTOR) {
            simd_f32 value = simd_load_f32(g + j) + simd_load_f32(a + j);
            simd_u32 less = (simd_u32)(value < least);
            least = (simd_f32)((less & (simd_u32)value) | (~less & (simd_u32)least));
        }
        out[i] = least[0];
        for (int k = 1; k < BOUND_VECTOR; k++)
            out[i] = least[k] < out[i] ? least[k] : out[i];
    }
}

/* ---- kernels ---- */

/* Computes 2^n 2^r with r in [-1/2, 1/2]. The Taylor series of 2^r has a relative error of 2e-7. */
SIMD_INLINE simd_f32 exponential(simd_f32 x)
{
    const float to_integer = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    simd_f32 y = x * 0x1.715476p+0f, shifted = y + to_integer;
    simd_f32 r = (y - (shifted - to_integer)) * 0x1.62e43p-1f;
    simd_f32 p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120)))));
    return p * (simd_f32)(((simd_u32)shifted + 127) << 23);
}

SIMD_CLONES void bound_kernel_exp(float *out, const float *cost, float scale, int64_t n)
{
    for (int64_t k = 0; k < n; k += BOUND_VECTOR) {
        simd_f32 x = scale * simd_load_f32(cost + k);
        simd_u32 kept = (simd_u32)(x > -41.0f);
        simd_store_f32(out + k, (simd_f32)(kept & (simd_u32)exponential(x)));
    }
}

SIMD_CLONES void bound_kernel_square(float *kernel, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        kernel[k] = kernel[k] < 1e-9f ? 0 : kernel[k] * kernel[k];
}

/* ---- scalings ---- */

SIMD_CLONES void bound_scaling_exp(float *u, double *wide, const float *self,
                                   double inverse_epsilon, int64_t n)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(wide + k, simd_exp(inverse_epsilon * simd_load(wide + k)));
    for (int64_t k = 0; k < n; k++)
        u[k] = (float)wide[k] * self[k];
}

SIMD_CLONES void bound_scaling_relax(float *v, const float *sums, bool more, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float plain = 1 / sums[k], half = __builtin_sqrtf(plain / v[k]);
        float quarter = more ? __builtin_sqrtf(half) : 1;
        v[k] = plain * half * quarter * (more ? __builtin_sqrtf(quarter) : 1);
    }
}

SIMD_CLONES void bound_scaling_average(float *s, const float *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        s[k] = __builtin_sqrtf(s[k] / sums[k]);
}

SIMD_CLONES void bound_scaling_square(float *u, const float *self, const float *next, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float bare = u[k] / self[k];
        u[k] = bare * bare * next[k];
    }
}

/* Combines the exponent with 2 atanh((m - 1) / (m + 1)), computed by its series for mantissas m in
 * [sqrt(1/2), sqrt(2)]. */
SIMD_INLINE simd_f32 logarithm(simd_f32 x)
{
    simd_i32 exponent = (simd_i32)((simd_u32)x - 0x3f3504f3) >> 23;
    simd_f32 m = (simd_f32)((simd_u32)x - ((simd_u32)exponent << 23));
    simd_f32 z = (m - 1) / (m + 1), z2 = z * z;
    simd_f32 series = 1 + z2 * (1.0f / 3 + z2 * (1.0f / 5 + z2 * (1.0f / 7)));
    return __builtin_convertvector(exponent, simd_f32) * 0x1.62e43p-1f + 2 * z * series;
}

SIMD_CLONES void bound_scaling_log(float *f, const float *u, const float *self, float epsilon,
                                   int64_t n)
{
    for (int64_t k = 0; k < n; k += BOUND_VECTOR)
        simd_store_f32(f + k, epsilon * logarithm(simd_load_f32(u + k) / simd_load_f32(self + k)));
}
