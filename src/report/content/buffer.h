/* A growing text. The first failure stays in `status` and later additions do nothing, so that pages
 * are written without a check per word: who hands the text out looks at status once. */
#ifndef DDSC_REPORT_CONTENT_BUFFER_H
#define DDSC_REPORT_CONTENT_BUFFER_H

#include "base/base.h"

typedef struct buffer {
    ddsc_context *ctx;
    char *bytes; /* NUL-terminated once anything was added, else NULL */
    int64_t length, capacity;
    ddsc_status status;
} buffer;

void buffer_free(buffer *b);
void buffer_add(buffer *b, const char *string);
/* What `make` adds for [0, n), in pieces of `grain` by all threads, put together in order. */
typedef void (*buffer_fn)(buffer *b, const void *arg, int64_t begin, int64_t end);
void buffer_add_pieces(buffer *b, int64_t n, int64_t grain, buffer_fn make, const void *arg);
void buffer_add_bytes(buffer *b, const void *bytes, size_t n);
void buffer_addf(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* & < > " ' escaped, control characters replaced: safe in HTML and SVG, text or attribute. */
void buffer_add_html(buffer *b, const char *string);
void buffer_add_base64(buffer *b, const unsigned char *bytes, size_t n);
/* A field of a csv line, quoted when it has to be. */
void buffer_add_csv(buffer *b, const char *field);
/* 1234567 as 1,234,567. */
void buffer_add_count(buffer *b, int64_t count);
/* The shortest decimal that reads back as the same double. */
void buffer_add_double(buffer *b, double value);

#endif
