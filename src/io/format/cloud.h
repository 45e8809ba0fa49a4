/* The state of a point cloud reader: the columns of the file, and the points read so far. */
#ifndef DDSC_IO_FORMAT_CLOUD_H
#define DDSC_IO_FORMAT_CLOUD_H

#include "io/format/d2.h"

enum { CLOUD_NAME = 64, CLOUD_MAX_FIELDS = 4096 };

typedef struct cloud_field {
    char name[CLOUD_NAME];
    num_type type;
    bool list;        /* ply: a list of values, which is skipped */
    num_type counter; /* type of the length of the list */
} cloud_field;

typedef struct cloud {
    ddsc_context *ctx;
    io_stream *s;
    measures_parts *out;
    const ddsc_read_settings *set;
    d2_tokens tokens;
    cloud_field *field;
    int64_t n_fields, field_capacity, first_field; /* first_field: index of the first field of the
                                                * current element */
    int64_t *chosen;                               /* indices of the out->d chosen fields */
    double *value;                                 /* values of one row, one per field */
    int64_t point_capacity;
} cloud;

ddsc_status cloud_add_field(cloud *c, const char *name, num_type type);
/* Chooses the fields with the requested names as coordinates. If no names are requested, chooses
 * all fields if `all` is true, else x, y and z. Must be called before rows are added. */
ddsc_status cloud_choose(cloud *c, bool all);
/* Appends the row in c->value as a point. */
ddsc_status cloud_put_row(cloud *c);
/* Reads the next token as a number. nan and inf are allowed. */
ddsc_status cloud_next_number(cloud *c, double *value);

ddsc_status cloud_read_ply(cloud *c);
ddsc_status cloud_read_pcd(cloud *c);

#endif
