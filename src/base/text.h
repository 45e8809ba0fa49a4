/* text: numbers and text that read and print the same in every locale, and packed tables of strings. */
#ifndef DDSC_BASE_TEXT_H
#define DDSC_BASE_TEXT_H

#include "base/base.h"

enum { NUMBER_TEXT = 32, QUOTE_TEXT = 48 };

/* The whole text is one decimal number, or nan or inf in C's spelling (callers refuse those by
 * value). No hexadecimal, no blanks. */
bool number_parse(const char *text, double *value);
bool number_parse_integer(const char *text, int64_t *value);
/* 17 significant digits: reads back to the same bits. Returns the length. */
int number_format(char out[NUMBER_TEXT], double value);
/* The character at *at (NUL-terminated text), which moves on; -1 for what is no UTF-8. */
int64_t text_next_char(const unsigned char **at);
/* Characters of a text, or -1 when it is no UTF-8. */
int64_t text_count_chars(const char *text);
/* ddsc_text_visible. */
size_t text_visible(char *out, size_t size, const char *text, size_t n_bytes);
/* Text in an encoding other than UTF-8 into UTF-8; out has room for 3 n + 1 bytes. Returns the length. */
size_t text_convert(char *out, const char *text, size_t n, ddsc_encoding encoding);
/* Text from a file made safe for a message: control bytes replaced, long text cut. */
const char *text_quote(char out[QUOTE_TEXT], const char *text, size_t n);
#define QUOTE(text) text_quote((char[QUOTE_TEXT]){0}, text, strlen(text))
/* Does the whole text match a pattern of * (any characters) and ? (one byte)? Case of ASCII letters
 * does not count. */
bool text_glob(const char *pattern, const char *text);
/* Each name of a list separated by commas, without blanks around it. */
ddsc_status text_each_listed(const char *list, ddsc_status (*fn)(void *arg, const char *name),
                             void *arg);
/* Text on one line in UTF-8 (other bytes taken as Latin-1), blanks and control characters made
 * single blanks, at most `most` characters; out has room for 2 * strlen(text) + 1 bytes. */
size_t text_tidy(char *out, const char *text, int64_t most);
/* The first line of a file, past its byte order mark. */
char *text_skip_mark(char *line);

/* Packed distinct strings, numbered in order of appearance; text and at have the layout that
 * measures_parts wants for ids and names. */
typedef struct text_table {
    char *text;
    int64_t *at; /* n + 1 starts; string i ends with a NUL at at[i+1] - 1 */
    int64_t n;
    int64_t text_room, at_room;
    int64_t *slot; /* open addressing, number + 1, 0 free */
    int64_t n_slots;
} text_table;

ddsc_status text_table_add(ddsc_context *ctx, text_table *t, const char *text, size_t n,
                           int64_t *number, bool *is_new);
int64_t text_table_find(const text_table *t, const char *text, size_t n); /* -1: not there */
const char *text_table_get(const text_table *t, int64_t number);
void text_table_free(ddsc_context *ctx, text_table *t);

/* Strings packed one after the other, with no search: row i is text + at[i]. */
typedef struct text_rows {
    ddsc_context *ctx;
    char *text;
    int64_t *at, text_room, at_room;
} text_rows;

/* Row i, the next one. */
ddsc_status text_rows_add(text_rows *rows, int64_t i, const char *text, size_t n);

#endif
