/* text: a growable string, in which the program builds all of its output. If memory is exhausted, the
 * program exits with code 5. At that point, no result is partially written. */
#ifndef DDSC_CLI_TEXT_H
#define DDSC_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct text {
    char *bytes; /* NUL-terminated, or NULL if nothing was added */
    size_t length, capacity;
} text;

void *cli_allocate(size_t count, size_t size); /* zeroed; release with free() */
void text_free(text *t);
const char *text_get(const text *t); /* never NULL */
void text_add(text *t, const char *string);
void text_add_bytes(text *t, const char *bytes, size_t n);
/* Like text_add_bytes, as a ddsc_write_fn. `t` is a text. */
int text_write(void *t, const void *bytes, size_t n);
/* Adds the bytes of a file, or of standard input if the path is "-". Returns false if it cannot be
 * read. */
bool text_add_file(text *t, const char *path);
void text_addf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addv(text *t, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Adds `string` with line breaks at spaces, so that no line exceeds `width`. Lines after the first
 * are indented by `indent` spaces. The first line starts at `column`. */
void text_add_wrapped(text *t, const char *string, int column, int indent, int width);
/* Adds text that may contain ids or file names. If `to` is a terminal, control characters are
 * escaped. */
void text_add_shown(text *t, const char *bytes, size_t n, FILE *to);
/* Adds a csv field, quoted if necessary. */
void text_add_csv(text *t, const char *field);
/* Adds a count with separators, for example 1234567 as 1,234,567. */
void text_add_count(text *t, int64_t count);
/* Adds a size in bytes, for example 1536 as "1.5 KiB". */
void text_add_size(text *t, double bytes);
/* Adds the shortest decimal number that reads back as the same double. */
void text_add_double(text *t, double value);

#endif
