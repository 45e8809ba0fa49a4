/* Renders pictures to files with Cairo. In builds without Cairo, the function fails with a message.
 * */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>

#ifdef DDSC_HAVE_CAIRO
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

enum { PNG_SCALE = 2 }; /* this resolution is sharp on high-resolution screens and in print */

static cairo_status_t take_bytes(void *out, const unsigned char *bytes, unsigned int n)
{
    text_add_bytes(out, (const char *)bytes, n);
    return CAIRO_STATUS_SUCCESS;
}

static void set_color(cairo_t *c, const char *color, double opacity)
{
    long rgb = strtol(color + 1, NULL, 16);
    cairo_set_source_rgba(c, (double)(rgb >> 16) / 255, (double)(rgb >> 8 & 255) / 255,
                          (double)(rgb & 255) / 255, opacity);
}

static void draw_words(cairo_t *c, const ddsc_mark *m)
{
    cairo_text_extents_t size;
    cairo_text_extents(c, m->words, &size);
    double shift = size.x_advance * m->anchor / 2;
    cairo_move_to(c, m->x - shift, m->y);
    cairo_show_text(c, m->words);
}

static void draw(cairo_t *c, const ddsc_mark *m)
{
    set_color(c, m->color, m->opacity);
    if (m->kind == DDSC_MARK_WORDS) {
        draw_words(c, m);
    } else if (m->kind == DDSC_MARK_LINE) {
        cairo_move_to(c, m->x, m->y);
        cairo_rel_line_to(c, m->w, m->h);
        cairo_stroke(c);
    } else if (m->kind == DDSC_MARK_BOX) {
        cairo_rectangle(c, m->x, m->y, m->w, m->h);
        cairo_fill(c);
    } else {
        cairo_arc(c, m->x, m->y, m->w, 0, 2 * M_PI);
        cairo_fill(c);
    }
}

static cairo_surface_t *surface_for(text *out, const picture *p, picture_format format)
{
    if (format == PICTURE_SVG)
        return cairo_svg_surface_create_for_stream(take_bytes, out, p->width, p->height);
    if (format == PICTURE_PDF) {
        cairo_surface_t *pdf =
            cairo_pdf_surface_create_for_stream(take_bytes, out, p->width, p->height);
        /* A fixed creation date makes the files reproducible. */
        cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
        return pdf;
    }
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PNG_SCALE * p->width),
                                      (int)(PNG_SCALE * p->height));
}

bool picture_render(text *out, const picture *p, picture_format format, const char **why)
{
    cairo_surface_t *surface = surface_for(out, p, format);
    cairo_t *c = cairo_create(surface);
    if (format == PICTURE_PNG)
        cairo_scale(c, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, 12);
    cairo_set_line_width(c, 1);
    for (int64_t i = 0; i < p->n_marks; i++)
        draw(c, &p->marks[i]);
    cairo_status_t status = cairo_status(c);
    cairo_destroy(c);
    if (status == CAIRO_STATUS_SUCCESS && format == PICTURE_PNG)
        status = cairo_surface_write_to_png_stream(surface, take_bytes, out);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    *why = cairo_status_to_string(status);
    return status == CAIRO_STATUS_SUCCESS;
}

#else

bool picture_render(text *out, const picture *p, picture_format format, const char **why)
{
    (void)out;
    (void)p;
    (void)format;
    *why = "this ddsc was built without Cairo; install libcairo2-dev and rebuild";
    return false;
}
#endif
