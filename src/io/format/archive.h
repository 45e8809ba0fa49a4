/* An npz archive being read, array by array. */
#ifndef DDSC_IO_FORMAT_ARCHIVE_H
#define DDSC_IO_FORMAT_ARCHIVE_H

#include "io/format/format.h"

typedef struct archive {
    ddsc_context *ctx;
    io_stream *s;
    zip_list list;
    /* the member being read */
    const zip_entry *entry;
    io_stream *member;
    npy_array array;
} archive;

ddsc_status archive_open(ddsc_context *ctx, archive *z, io_stream *s);
void archive_close(archive *z); /* also after archive_open failed */
bool archive_has(const archive *z, const char *name);
/* The header of an array that is there, of so many axes; then its elements are read from z->member,
 * and after the last archive_close_array checks what the archive says about it. */
ddsc_status archive_open_array(archive *z, const char *name, int n_dims);
ddsc_status archive_close_array(archive *z);
ddsc_status archive_read_table(archive *z, const char *name, double **out, int64_t *rows,
                               int64_t *columns);
/* The array at work, which holds texts, packed one after the other; then it is closed. */
ddsc_status archive_read_strings(archive *z, char **text, int64_t **at);
/* Words fitted to a set of documents, where there are any. */
ddsc_status archive_read_words(archive *z, measures_words *out);
/* Transforms that lead to d coordinates; n = 0 where there are none. */
ddsc_status archive_read_recipe(archive *z, measures_recipe *r, int64_t d);
/* n names of something, none where the array is not there. */
ddsc_status archive_read_names(archive *z, measures_texts *out, const char *name, int64_t n,
                               const char *of);
/* The items in any of the three layouts, with ids, labels and words where there are any. */
ddsc_status archive_read_items(archive *z, measures_parts *out);

/* The arrays of a set, into an archive that may get others too. */
ddsc_status npz_add_items(npz_writer *z, const measures *m);
ddsc_status npz_add_recipe(npz_writer *z, const measures_recipe *r);
ddsc_status npz_add_words(npz_writer *z, const measures_words *words);
/* Texts as fixed-width unicode, or as bytes when one of them is no UTF-8. */
typedef const char *(*npz_string_fn)(const void *arg, int64_t i);
ddsc_status npz_add_strings(npz_writer *z, const char *name, npz_string_fn get, const void *arg,
                            int64_t n);

#endif
