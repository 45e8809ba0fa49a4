#include "bound/refine_kernels.h"

#include "base/simd.h"

enum { CHUNK = 4 }; /* vectors held at once for each of two rows */

typedef float lanes __attribute__((vector_size(4 * REFINE_LANES)));
typedef int32_t lane_whole __attribute__((vector_size(4 * REFINE_LANES)));
typedef uint32_t lane_bits __attribute__((vector_size(4 * REFINE_LANES)));

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
            lanes value = load(in + k * REFINE_LANES);
            row0[k] += coef0[s * x->step] * value;
            row1[k] += coef1[s * x->step] * value;
        }
    for (int k = 0; k < n_vectors; k++) {
        store(x->out + r * x->ld + c + k * REFINE_LANES, row0[k]);
        store(x->out + (r + 1) * x->ld + c + k * REFINE_LANES, row1[k]);
    }
}

/* Full chunks, then what is left, with the number of vectors a constant in each call. */
SIMD_CLONES void grid_mix_sum(const grid_mix *x)
{
    for (int64_t c = 0; c < x->lanes; c += CHUNK * REFINE_LANES) {
        int64_t n_vectors = (x->lanes - c) / REFINE_LANES;
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

/* Lane by lane, which compilers turn into the one instruction there is for it. */
SIMD_INLINE lanes lesser(lanes x, lanes y)
{
    lanes z;
    for (int k = 0; k < REFINE_LANES; k++)
        z[k] = x[k] < y[k] ? x[k] : y[k];
    return z;
}

SIMD_INLINE void min_block(const grid_mix *x, int64_t r, int64_t c, const int n_vectors)
{
    const float *coef0 = x->coef + r * x->row_step, *coef1 = coef0 + x->row_step;
    const float *in = x->in + c;
    lanes row0[CHUNK], row1[CHUNK];
    for (int k = 0; k < n_vectors; k++)
        row0[k] = row1[k] = (lanes){0} + __builtin_inff();
    for (int64_t s = 0; s < x->n; s++, in += x->stride)
        for (int k = 0; k < n_vectors; k++) {
            lanes value = load(in + k * REFINE_LANES);
            row0[k] = lesser(coef0[s * x->step] + value, row0[k]);
            row1[k] = lesser(coef1[s * x->step] + value, row1[k]);
        }
    for (int k = 0; k < n_vectors; k++) {
        store(x->out + r * x->ld + c + k * REFINE_LANES, row0[k]);
        store(x->out + (r + 1) * x->ld + c + k * REFINE_LANES, row1[k]);
    }
}

SIMD_CLONES void grid_mix_min(const grid_mix *x)
{
    for (int64_t c = 0; c < x->lanes; c += CHUNK * REFINE_LANES) {
        int64_t n_vectors = (x->lanes - c) / REFINE_LANES;
        for (int64_t r = 0; r < x->rows; r += 2)
            if (n_vectors >= 4)
                min_block(x, r, c, 4);
            else if (n_vectors == 3)
                min_block(x, r, c, 3);
            else if (n_vectors == 2)
                min_block(x, r, c, 2);
            else
                min_block(x, r, c, 1);
    }
}

/* ---- dense ---- */

SIMD_CLONES void dense_distances(float *restrict out, const float *x, const float *restrict y,
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

SIMD_CLONES void dense_column_sums(float *restrict out, const float *restrict a, const float *v,
                                   int64_t rows, int64_t ld)
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

SIMD_INLINE float lanes_sum(lanes x)
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

SIMD_CLONES void dense_row_sums(float *out, const float *a, const float *v, int64_t rows,
                                int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, a += ld) {
        lanes even = {0}, odd = {0};
        int64_t j = 0;
        for (; j + 2 * REFINE_LANES <= ld; j += 2 * REFINE_LANES) {
            even += load(a + j) * load(v + j);
            odd += load(a + j + REFINE_LANES) * load(v + j + REFINE_LANES);
        }
        if (j < ld)
            even += load(a + j) * load(v + j);
        out[i] = lanes_sum(even + odd);
    }
}

SIMD_CLONES void dense_column_minima(float *restrict out, const float *restrict a, const float *f,
                                     int64_t rows, int64_t ld)
{
    for (int64_t j = 0; j < ld; j++)
        out[j] = __builtin_inff();
    for (int64_t i = 0; i < rows; i += 4) {
        const float *in[4];
        float coef[4];
        for (int64_t k = 0; k < 4; k++) {
            int64_t at = i + k < rows ? i + k : rows - 1;
            in[k] = a + at * ld;
            coef[k] = -f[at];
        }
        lower_by_four(out, ld, in, coef);
    }
}

SIMD_CLONES void dense_row_minima(float *out, const float *a, const float *g, int64_t rows,
                                  int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, a += ld) {
        lanes least = (lanes){0} + __builtin_inff();
        for (int64_t j = 0; j < ld; j += REFINE_LANES) {
            lanes value = load(a + j) - load(g + j);
            lane_bits less = (lane_bits)(value < least);
            least = (lanes)((less & (lane_bits)value) | (~less & (lane_bits)least));
        }
        out[i] = least[0];
        for (int k = 1; k < REFINE_LANES; k++)
            out[i] = least[k] < out[i] ? least[k] : out[i];
    }
}

/* ---- kernels ---- */

/* 2^n 2^r with r in [-1/2, 1/2], 2^r by its Taylor series: 2e-7 of the value. */
SIMD_INLINE lanes exponential(lanes x)
{
    const float to_integer = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    lanes y = x * 0x1.715476p+0f, shifted = y + to_integer;
    lanes r = (y - (shifted - to_integer)) * 0x1.62e43p-1f;
    lanes p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120)))));
    return p * (lanes)(((lane_bits)shifted + 127) << 23);
}

SIMD_CLONES void kernel_exp(float *out, const float *cost, float scale, int64_t n)
{
    for (int64_t k = 0; k < n; k += REFINE_LANES) {
        lanes x = scale * load(cost + k);
        lane_bits kept = (lane_bits)(x > -41.0f);
        store(out + k, (lanes)(kept & (lane_bits)exponential(x)));
    }
}

SIMD_CLONES void kernel_square(float *kernel, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        kernel[k] = kernel[k] < 1e-9f ? 0 : kernel[k] * kernel[k];
}

/* ---- scalings ---- */

SIMD_CLONES void scaling_exp(float *u, double *wide, const float *self, double inverse_epsilon,
                             int64_t n)
{
    for (int64_t k = 0; k < n; k += SIMD_LANES)
        simd_store(wide + k, simd_exp(inverse_epsilon * simd_load(wide + k)));
    for (int64_t k = 0; k < n; k++)
        u[k] = (float)wide[k] * self[k];
}

SIMD_CLONES void scaling_relax(float *v, const float *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float plain = 1 / sums[k];
        v[k] = plain * __builtin_sqrtf(plain / v[k]);
    }
}

SIMD_CLONES void scaling_relax_more(float *v, const float *sums, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        float plain = 1 / sums[k], half = __builtin_sqrtf(plain / v[k]);
        float quarter = __builtin_sqrtf(half);
        v[k] = plain * half * quarter * __builtin_sqrtf(quarter);
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
    for (int64_t k = 0; k < n; k += REFINE_LANES)
        store(f + k, epsilon * logarithm(load(u + k) / load(self + k)));
}
