/* Functions that build the tree of result.json. jansson allocates the tree with its own
 * allocator, which is acceptable because the tree is small compared with the items. If memory is
 * exhausted, r->lost is set and the report fails with DDSC_ERROR_MEMORY. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/result/tree.h"

void put_value(ddsc_report *r, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        r->lost = true;
}

json_t *result_string(const char *value)
{
    json_t *string = json_string(value);
    char *plain = string ? NULL : strdup(value);
    for (char *c = plain; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    if (plain)
        string = json_string(plain);
    free(plain);
    return string;
}

void put_text(ddsc_report *r, json_t *object, const char *key, const char *value)
{
    put_value(r, object, key, result_string(value));
}

void put_count(ddsc_report *r, json_t *object, const char *key, int64_t value)
{
    put_value(r, object, key, json_integer(value));
}

void put_count_or_auto(ddsc_report *r, json_t *object, const char *key, int64_t value)
{
    put_value(r, object, key, value ? json_integer(value) : json_string("auto"));
}

void put_real(ddsc_report *r, json_t *object, const char *key, double value)
{
    put_value(r, object, key, isfinite(value) ? json_real(value) : json_null());
}

void put_bool(ddsc_report *r, json_t *object, const char *key, bool value)
{
    put_value(r, object, key, json_boolean(value));
}

json_t *put_object(ddsc_report *r, json_t *object, const char *key)
{
    json_t *child = json_object();
    put_value(r, object, key, child);
    return child;
}

json_t *put_array(ddsc_report *r, json_t *object, const char *key)
{
    json_t *child = json_array();
    put_value(r, object, key, child);
    return child;
}

void put_last(ddsc_report *r, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        r->lost = true;
}

json_t *put_row(ddsc_report *r, json_t *array)
{
    json_t *row = json_object();
    put_last(r, array, row);
    return row;
}
