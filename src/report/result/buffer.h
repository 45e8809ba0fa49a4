/* buffer: a growable text. `status` is the status of the first failure, after which functions that
 * add text do nothing. Callers therefore check `status` only once, when the text is complete. */
#ifndef DDSC_REPORT_RESULT_BUFFER_H
#define DDSC_REPORT_RESULT_BUFFER_H

#include "base/base.h"

typedef struct buffer {
    ddsc_context *ctx;
    char *bytes; /* NUL-terminated; NULL while the buffer is empty */
    int64_t length, capacity;
    ddsc_status status;
} buffer;

void buffer_free(buffer *b);
void buffer_add(buffer *b, const char *string);
/* Appends the output of `make` for [0, n). Threads create the output in pieces of `grain` elements,
 * which are concatenated in order. */
typedef void (*buffer_fn)(buffer *b, const void *arg, int64_t begin, int64_t end);
void buffer_add_pieces(buffer *b, int64_t n, int64_t grain, buffer_fn make, const void *arg);
void buffer_add_bytes(buffer *b, const void *bytes, size_t n);
void buffer_addf(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Escapes & < > " ' and replaces control characters. The result is safe in the text and
 * attributes of HTML and SVG. */
void buffer_add_html(buffer *b, const char *string);
void buffer_add_base64(buffer *b, const unsigned char *bytes, size_t n);
/* Appends a CSV field, quoted if necessary. */
void buffer_add_csv(buffer *b, const char *field);
/* Appends a count with separators, for example 1234567 as 1,234,567. */
void buffer_add_count(buffer *b, int64_t count);
/* Appends the shortest decimal number that reads back as the same double. */
void buffer_add_double(buffer *b, double value);

#endif
