/* Reads and writes the transforms of a set in its npz: transform_steps (n, 3) and transform_values.
 * transform_inputs contains the original names of the coordinates, if they had names. For a step by
 * batch, transform_batches contains the column and its values. */
#include <math.h>

#include "data/recipe.h"
#include "io/format/archive.h"

static const char *nth_text(const void *arg, int64_t k)
{
    return texts_get(arg, k);
}

ddsc_status npz_add_recipe(npz_writer *z, const measures_recipe *r)
{
    int64_t shape[2] = {r->n, 3};
    if (r->n == 0)
        return DDSC_OK;
    CHECK(npz_writer_add(z, "transform_steps", NPY_INT8, 2, shape, 8, NULL, r->step));
    CHECK(npz_writer_add(z, "transform_values", NPY_FLOAT8, 1, &r->n_values, 8, NULL, r->value));
    if (r->inputs.n > 0)
        CHECK(npz_add_strings(z, "transform_inputs", nth_text, &r->inputs, r->inputs.n));
    if (r->batches.n > 0)
        CHECK(npz_add_strings(z, "transform_batches", nth_text, &r->batches, r->batches.n));
    return DDSC_OK;
}

static ddsc_status read_steps(archive *z, measures_recipe *r)
{
    CHECK(archive_open_array(z, "transform_steps", 2));
    if (z->array.shape[1] != 3 || z->array.shape[0] < 1 || z->array.shape[0] > 64)
        return stream_fail(z->member, "has the shape %s", NPY_SHAPE(&z->array));
    r->n = z->array.shape[0];
    CHECK(npy_read_integers(z->ctx, &r->step, z->member, &z->array));
    return archive_close_array(z);
}

static ddsc_status read_values(archive *z, measures_recipe *r)
{
    CHECK(archive_open_array(z, "transform_values", 1));
    r->n_values = z->array.count;
    CHECK(npy_read_doubles(z->ctx, &r->value, z->member, &z->array));
    CHECK(archive_close_array(z));
    for (int64_t k = 0; k < r->n_values; k++)
        if (!isfinite(r->value[k]))
            return stream_fail(z->s, "element %lld of transform_values is not finite",
                               (long long)k);
    return DDSC_OK;
}

ddsc_status archive_read_recipe(archive *z, measures_recipe *r, int64_t d)
{
    int64_t n_batches = 0;
    if (!archive_has(z, "transform_steps"))
        return DDSC_OK;
    if (!archive_has(z, "transform_values"))
        return stream_fail(z->s, "has transform_steps but no transform_values");
    CHECK(read_steps(z, r));
    CHECK(read_values(z, r));
    int64_t before = recipe_dimension(r, d);
    if (before < 1)
        return stream_fail(z->s, "its transforms do not match points with %lld coordinates",
                           (long long)d);
    CHECK(archive_read_names(z, &r->inputs, "transform_inputs", before, "coordinates"));
    for (int64_t k = 0; k < r->n; k++)
        if (r->step[3 * k] == RECIPE_BATCH) {
            if (n_batches > 0)
                return stream_fail(z->s, "its transforms contain two steps by batch");
            n_batches = r->step[3 * k + 1];
        }
    return n_batches == 0 ? DDSC_OK
                          : archive_read_names(z, &r->batches, "transform_batches", n_batches + 1,
                                               "batches and their column");
}
