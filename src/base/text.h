/* Locale-independent conversion of numbers and text, and packed tables of strings. */
#ifndef DDSC_BASE_TEXT_H
#define DDSC_BASE_TEXT_H

#include "base/base.h"

enum { NUMBER_TEXT = 32, QUOTE_TEXT = 48 };

/* Parse the whole text as a decimal number. number_parse also accepts the spellings of nan and inf
 * in C; callers that do not allow these values must check the result. Hexadecimal numbers and
 * whitespace are not accepted. */
bool number_parse(const char *text, double *value);
bool number_parse_integer(const char *text, int64_t *value);
/* Formats a number with 17 significant digits, so that parsing the text gives the same bits.
 * Returns the length. */
int number_format(char out[NUMBER_TEXT], double value);
/* Returns the character at *at in NUL-terminated text and advances *at. Returns -1 for invalid
 * UTF-8. */
int64_t text_next_char(const unsigned char **at);
/* Returns the number of characters, or -1 for invalid UTF-8. */
int64_t text_count_chars(const char *text);
/* Implements ddsc_text_visible. */
size_t text_visible(char *out, size_t size, const char *text, size_t n_bytes);
/* Converts text in an encoding other than UTF-8 to UTF-8. `out` needs 3 n + 1 bytes. Returns the
 * length. */
size_t text_convert(char *out, const char *text, size_t n, ddsc_encoding encoding);
/* Returns true if the text marks a missing value in a table: "", NA, N/A, NaN, nan, NULL or
 * null. */
bool text_is_missing(const char *text);
/* Makes text from a file safe for a message: replaces control characters and truncates long
 * text. */
const char *text_quote(char out[QUOTE_TEXT], const char *text, size_t n);
#define QUOTE(text) text_quote((char[QUOTE_TEXT]){0}, text, strlen(text))
/* Returns true if the whole text matches a pattern with * (any characters) and ? (one byte). The
 * case of ASCII letters is ignored. */
bool text_glob(const char *pattern, const char *text);
/* Calls fn for each name in a comma-separated list, without surrounding spaces. */
ddsc_status text_each_listed(const char *list, ddsc_status (*fn)(void *arg, const char *name),
                             void *arg);
/* Returns the length of the longest prefix of n bytes that has at most `most` bytes and does not end
 * within a UTF-8 character. */
size_t text_cut(const char *text, size_t n, size_t most);
/* Converts text to one line of UTF-8 with at most `most` characters. Invalid bytes are read as
 * Latin-1, and each run of spaces and control characters becomes one space. `out` needs 2 *
 * strlen(text) + 1 bytes. */
size_t text_tidy(char *out, const char *text, int64_t most);
/* Skips the byte order mark in the first line of a file. */
char *text_skip_mark(char *line);

/* Packed distinct strings, numbered in order of appearance. `text` and `at` have the layout that
 * measures_parts requires for ids and names. */
typedef struct text_table {
    char *text;
    int64_t *at; /* n + 1 offsets; string i ends with a NUL at at[i+1] - 1 */
    int64_t n;
    int64_t text_capacity, at_capacity;
    int64_t *slot; /* open addressing: number + 1, or 0 if free */
    int64_t n_slots;
} text_table;

ddsc_status text_table_add(ddsc_context *ctx, text_table *t, const char *text, size_t n,
                           int64_t *number, bool *is_new);
int64_t text_table_find(const text_table *t, const char *text, size_t n); /* -1 if not found */
const char *text_table_get(const text_table *t, int64_t number);
void text_table_free(ddsc_context *ctx, text_table *t);

/* Packed strings without an index for searching. Row i is text + at[i]. */
typedef struct text_rows {
    ddsc_context *ctx;
    char *text;
    int64_t *at, text_capacity, at_capacity;
} text_rows;

/* Appends row i. Rows must be appended in order. */
ddsc_status text_rows_add(text_rows *rows, int64_t i, const char *text, size_t n);

#endif
