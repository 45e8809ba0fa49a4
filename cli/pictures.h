/* The pictures of a report as files. */
#ifndef DDSC_CLI_PICTURES_H
#define DDSC_CLI_PICTURES_H

#include "cli.h"

typedef struct picture {
    double width, height;
    int64_t n_marks;
    const ddsc_mark *marks;
} picture;

typedef enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF } picture_format;
/* false: this build has no Cairo, or it failed; *why says which. */
bool picture_render(text *out, const picture *p, picture_format format, const char **why);

#endif
