/* Returns the marks of a report's pictures, which R draws. */
#include "calls.h"

#include <string.h>

/* Marks are first copied to memory that the handle allocates with malloc, because the callback must
 * not call R. */
static int on_picture(void *user, const char *name, double width, double height, int64_t n_marks,
                      const ddsc_mark *marks)
{
    growing_text *text = user;
    char line[512];
    snprintf(line, sizeof line, "picture\t%s\t%.17g\t%.17g\n", name, width, height);
    if (text_write(text, line, strlen(line)))
        return 1;
    for (int64_t i = 0; i < n_marks; i++) {
        const ddsc_mark *m = &marks[i];
        snprintf(line, sizeof line, "%d\t%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%d\t", (int)m->kind,
                 m->color, m->opacity, m->x, m->y, m->w, m->h, m->anchor);
        const char *words = m->words ? m->words : "";
        if (text_write(text, line, strlen(line)))
            return 1;
        for (; *words; words++) { /* a tab or newline in a name must not end the field */
            char c = (unsigned char)*words < 32 ? ' ' : *words;
            if (text_write(text, &c, 1))
                return 1;
        }
        if (text_write(text, "\n", 1))
            return 1;
    }
    return 0;
}

/* Returns the pictures as lines of tab-separated fields: for each picture, "picture", name, width
 * and height; for each of its marks, kind, color, opacity, x, y, w, h, anchor and text. */
SEXP r_pictures(SEXP pointer)
{
    handle *h = handle_get(pointer);
    handle_begin(h);
    h->status = ddsc_report_draw(h->ctx, h->report, on_picture, &h->output);
    if (h->output.failed)
        h->status = DDSC_ERROR_MEMORY;
    SEXP text = PROTECT(text_string(&h->output));
    text_free(&h->output);
    SEXP answer = handle_answer(h, text);
    UNPROTECT(1);
    return answer;
}
