/* A point cloud in a file of its own being read: what its columns are, and its points so far. */
#ifndef DDSC_IO_FORMAT_CLOUD_H
#define DDSC_IO_FORMAT_CLOUD_H

#include "io/format/d2.h"

enum { CLOUD_NAME = 64, CLOUD_MAX_FIELDS = 4096 };

typedef struct cloud_field {
    char name[CLOUD_NAME];
    num_type type;
    bool list;        /* ply: a number of values, which are passed over */
    num_type counter; /* of that number */
} cloud_field;

typedef struct cloud {
    ddsc_context *ctx;
    io_stream *s;
    measures_parts *out;
    const ddsc_read_settings *set;
    d2_tokens tokens;
    cloud_field *field;
    int64_t n_fields, field_room, first_field; /* the last: of the element whose fields come */
    int64_t *chosen;                           /* out->d fields */
    double *value;                             /* of a row: one per field */
    int64_t point_room;
} cloud;

ddsc_status cloud_add_field(cloud *c, const char *name, num_type type);
/* By the names asked for; else all, or x, y and z where there are such. Then rows may come. */
ddsc_status cloud_choose(cloud *c, bool all);
/* The row in c->value is one more point. */
ddsc_status cloud_put_row(cloud *c);
/* The next token as a number, nan and inf too. */
ddsc_status cloud_next_number(cloud *c, double *value);

ddsc_status cloud_read_ply(cloud *c);
ddsc_status cloud_read_pcd(cloud *c);

#endif
