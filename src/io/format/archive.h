/* Reads an npz archive array by array. */
#ifndef DDSC_IO_FORMAT_ARCHIVE_H
#define DDSC_IO_FORMAT_ARCHIVE_H

#include "io/format/format.h"

typedef struct archive {
    ddsc_context *ctx;
    io_stream *s;
    zip_list list;
    /* the member that is being read */
    const zip_entry *entry;
    io_stream *member;
    npy_array array;
} archive;

ddsc_status archive_open(ddsc_context *ctx, archive *z, io_stream *s);
void archive_close(archive *z); /* may be called even if archive_open failed */
bool archive_has(const archive *z, const char *name);
/* Opens an array, which must exist and have n_dims axes, and reads its header. The caller reads the
 * elements from z->member and then calls archive_close_array, which checks the size and the
 * checksum. */
ddsc_status archive_open_array(archive *z, const char *name, int n_dims);
ddsc_status archive_close_array(archive *z);
ddsc_status archive_read_table(archive *z, const char *name, double **out, int64_t *rows,
                               int64_t *columns);
/* Reads the texts of the open array into one packed buffer, and closes the array. */
ddsc_status archive_read_strings(archive *z, char **text, int64_t **at);
/* Reads the words that were fitted to a set of documents, if the archive contains any. */
ddsc_status archive_read_words(archive *z, measures_words *out);
/* Reads the word counts of n items, if the archive contains any. */
ddsc_status archive_read_counts(archive *z, measures_counts *out, int64_t n);
/* Read and write the arrays of a model from which cluster memberships are computed. */
ddsc_status archive_read_memberships(archive *z, ddsc_model *m);
ddsc_status npz_add_memberships(npz_writer *z, const ddsc_model *m);
/* Reads the transforms that produced the d coordinates. If there are none, r->n is 0. */
ddsc_status archive_read_recipe(archive *z, measures_recipe *r, int64_t d);
/* Reads n names. `of` says what the names belong to, for messages. The result is empty if the array
 * does not exist. */
ddsc_status archive_read_names(archive *z, measures_texts *out, const char *name, int64_t n,
                               const char *of);
/* Reads the items in any of the three layouts, with ids, labels and words if present. */
ddsc_status archive_read_items(archive *z, measures_parts *out);

/* Reads the settings of a model. Missing settings that were added after version 0.2.0 remain 0. */
ddsc_status archive_read_model_settings(archive *z, ddsc_model *m);
ddsc_status npz_add_model_settings(npz_writer *z, const ddsc_model *m);

/* Add the arrays of a set to an archive, which may contain other arrays. */
ddsc_status npz_add_items(npz_writer *z, const measures *m);
ddsc_status npz_add_recipe(npz_writer *z, const measures_recipe *r);
ddsc_status npz_add_words(npz_writer *z, const measures_words *words);
/* Adds the word counts of the items. Does nothing if the set has none, as in a private set. */
ddsc_status npz_add_counts(npz_writer *z, const measures *m);
/* Adds texts as fixed-width Unicode, or as bytes if any text is not UTF-8. */
typedef const char *(*npz_string_fn)(const void *arg, int64_t i);
ddsc_status npz_add_strings(npz_writer *z, const char *name, npz_string_fn get, const void *arg,
                            int64_t n);

#endif
