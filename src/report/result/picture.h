/* picture: draws small pictures of planar items, with side x side cells whose values are 0 to 15.
 * */
#ifndef DDSC_REPORT_RESULT_PICTURE_H
#define DDSC_REPORT_RESULT_PICTURE_H

#include "base/base.h"

enum { PICTURE_MAX_SIDE = 32, PICTURE_LEVELS = 16 };

typedef struct picture_frame {
    double low[2], scale; /* cell = scale * (position - low) */
    bool image;           /* true if positions are (row, column) in an image */
    int side;
} picture_frame;

/* Returns the common frame of all items. Images of up to PICTURE_MAX_SIDE pixels per side are not
 * rescaled. */
picture_frame picture_frame_for(const ddsc_measures_view *items, int side);
/* Adds the mass of an item to an array of side x side cells. */
void picture_add(double *mass, const picture_frame *f, const ddsc_measures_view *items,
                 int64_t item);
void picture_draw(unsigned char *cells, const picture_frame *f, const ddsc_measures_view *items,
                  int64_t item);

#endif
