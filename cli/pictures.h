/* Renders the pictures of a report. */
#ifndef DDSC_CLI_PICTURES_H
#define DDSC_CLI_PICTURES_H

#include "cli.h"

typedef struct picture {
    double width, height;
    int64_t n_marks;
    const ddsc_mark *marks;
} picture;

typedef enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF } picture_format;
/* Renders one picture. Returns false if this build has no Cairo or rendering failed, with the
 * reason in *why. */
bool picture_render(text *out, const picture *p, picture_format format, const char **why);

#endif
