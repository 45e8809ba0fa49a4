/* A device in plain C, for tests where no other is: libddsc_reference.so. Its cheap way errs by as
 * much as it is allowed to, up or down by the pair, so that the rule for what stays in doubt has no
 * slack to live on; its strips are short. The environment names a fault in DDSC_REFERENCE: none
 * there (driver), too little memory (memory), a failure in the second strip (late), wrong lists (lists),
 * no way but the cheap one (cheap), another version of the table (version). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/table.h"

enum { STRIP = 96, LONGEST = 200 };

typedef struct reference {
    int way;
    device_rows r; /* copies */
    double *length;
} reference;

static int faulty(const char *fault)
{
    const char *asked = getenv("DDSC_REFERENCE");
    return asked && strcmp(asked, fault) == 0;
}

static int fail(char *why, const char *words)
{
    snprintf(why, DEVICE_WORDS, "%s", words);
    return 1;
}

static void drop(reference *d)
{
    free((void *)(uintptr_t)d->r.rows);
    free((void *)(uintptr_t)d->r.start);
    free((void *)(uintptr_t)d->r.weight);
    free(d->length);
    d->r = (device_rows){0};
    d->length = NULL;
}

static void reference_close(void *state)
{
    drop(state);
    free(state);
}

static int reference_open(void **state, int number, device_about *about, char *why)
{
    if (faulty("driver") || number != 0)
        return fail(why, number ? "there is no device of this number" : "no driver");
    *state = calloc(1, sizeof(reference));
    *about = (device_about){.name = "reference",
                            .memory = 1 << 30,
                            .n_ways = faulty("cheap") ? 1 : 2,
                            .longest = LONGEST};
    return *state ? 0 : fail(why, "no memory");
}

static const char *reference_way(void *state, int way, int64_t columns, double *radius)
{
    (void)state;
    *radius = way == 0 ? 1e-3 : 0x1.02p-24 * (double)(columns + 1);
    return way == 0 ? "coarse" : "float";
}

static const float *copied(const float *from, int64_t n)
{
    float *to = from ? malloc((size_t)n * sizeof *to) : NULL;
    if (to)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static int reference_load(void *state, int way, const device_rows *rows, int64_t keep,
                          int64_t *strip, char *why)
{
    reference *d = state;
    if (faulty("memory") || keep > LONGEST)
        return fail(why, "too little memory: 12 GiB are needed, 1 is free");
    drop(d);
    d->way = way;
    d->r = (device_rows){rows->n, rows->columns, copied(rows->rows, rows->n * rows->columns),
                         copied(rows->start, rows->n), copied(rows->weight, rows->n)};
    d->length = calloc((size_t)rows->n, sizeof *d->length);
    for (int64_t i = 0; i < rows->n; i++) {
        for (int64_t k = 0; k < rows->columns; k++)
            d->length[i] += pow((double)rows->rows[i * rows->columns + k], 2);
        d->length[i] = sqrt(d->length[i]);
    }
    *strip = STRIP;
    return 0;
}

static float product(const reference *d, int64_t i, int64_t j)
{
    const float *x = d->r.rows + i * d->r.columns, *y = d->r.rows + j * d->r.columns;
    float sum = 0;
    double exact = 0, radius;
    for (int64_t k = 0; k < d->r.columns; k++) {
        sum += x[k] * y[k];
        exact += (double)x[k] * (double)y[k];
    }
    if (d->way == 1)
        return sum;
    reference_way(NULL, 0, d->r.columns, &radius);
    radius -= 0x1p-23;
    return (float)(exact +
                   ((i * 7 + j * 13) % 5 < 2 ? -1 : 1) * radius * d->length[i] * d->length[j]);
}

/* By (key, j): in order of j, so equal keys stay behind. */
static void insert(float *key, int32_t *index, int64_t keep, int64_t held, float k, int32_t j)
{
    int64_t at = held < keep ? held : keep - 1;
    if (held == keep && k >= key[at])
        return;
    for (; at > 0 && key[at - 1] > k; at--) {
        key[at] = key[at - 1];
        index[at] = index[at - 1];
    }
    key[at] = k;
    index[at] = j;
}

static int reference_nearest(void *state, int64_t begin, int64_t end, int64_t keep, float *key,
                             int32_t *index, char *why)
{
    const reference *d = state;
    const device_rows *r = &d->r;
    if (faulty("late") && begin > 0)
        return fail(why, "an illegal memory access was encountered");
    for (int64_t i = begin; i < end; i++) {
        int64_t held = 0;
        float *own_key = key + (i - begin) * keep;
        int32_t *own_index = index + (i - begin) * keep;
        for (int64_t j = 0; j < r->n; j++) {
            if (j == i)
                continue;
            float low = (r->start[i] + r->start[j]) - 2.0F * product(d, i, j);
            insert(own_key, own_index, keep, held, r->weight ? low * r->weight[j] : low,
                   (int32_t)j);
            held += held < keep;
        }
        if (faulty("lists"))
            own_index[0] = (int32_t)i;
    }
    return 0;
}

const device_table *ddsc_device_table(void);

const device_table *ddsc_device_table(void)
{
    static device_table table = {DEVICE_TABLE_VERSION, reference_open, reference_close,
                                 reference_way,        reference_load, reference_nearest};
    table.version = faulty("version") ? DEVICE_TABLE_VERSION + 1 : DEVICE_TABLE_VERSION;
    return &table;
}
