/* A growable string. */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static _Noreturn void out_of_memory(void)
{
    fputs("ddsc: out of memory\n", stderr);
    exit(EXIT_MEMORY);
}

void *cli_allocate(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        out_of_memory();
    return block;
}

void text_free(text *t)
{
    free(t->bytes);
    *t = (text){0};
}

const char *text_get(const text *t)
{
    return t->bytes ? t->bytes : "";
}

/* Reserves space for n more bytes and the final NUL. */
static void reserve(text *t, size_t n)
{
    if (n >= SIZE_MAX / 2 - t->length)
        out_of_memory();
    if (t->length + n + 1 <= t->capacity)
        return;
    size_t capacity = 2 * (t->length + n) + 64;
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes)
        out_of_memory();
    t->bytes = bytes;
    t->capacity = capacity;
}

void text_add_bytes(text *t, const char *bytes, size_t n)
{
    reserve(t, n);
    memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
    t->bytes[t->length] = '\0';
}

bool text_add_file(text *t, const char *path)
{
    char bytes[1 << 14];
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file)
        return false;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        text_add_bytes(t, bytes, n);
    bool good = !ferror(file);
    if (file != stdin)
        fclose(file);
    return good;
}

int text_write(void *t, const void *bytes, size_t n)
{
    text_add_bytes(t, bytes, n);
    return 0;
}

void text_add(text *t, const char *string)
{
    text_add_bytes(t, string, strlen(string));
}

void text_addv(text *t, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        return;
    reserve(t, (size_t)n);
    vsnprintf(t->bytes + t->length, (size_t)n + 1, format, arguments);
    t->length += (size_t)n;
}

void text_addf(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_addv(t, format, arguments);
    va_end(arguments);
}

void text_add_wrapped(text *t, const char *string, int column, int indent, int width)
{
    int at = column;
    bool line_empty = true;
    while (*string) {
        size_t n = strcspn(string, " \n");
        if (!line_empty && at + 1 + (int)n > width) {
            text_addf(t, "\n%*s", indent, "");
            at = indent;
            line_empty = true;
        }
        if (!line_empty)
            text_add(t, " ");
        text_add_bytes(t, string, n);
        at += (int)n + (line_empty ? 0 : 1);
        line_empty = false;
        string += n;
        if (*string == '\n') {
            text_addf(t, "\n%*s", indent, "");
            at = indent;
            line_empty = true;
        }
        string += strspn(string, " \n");
    }
}

void text_add_shown(text *t, const char *bytes, size_t n, FILE *to)
{
    if (!isatty(fileno(to))) {
        text_add_bytes(t, bytes, n);
        return;
    }
    size_t length = ddsc_text_visible(NULL, 0, bytes, n);
    reserve(t, length);
    ddsc_text_visible(t->bytes + t->length, length + 1, bytes, n);
    t->length += length;
}

void text_add_csv(text *t, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        text_add(t, field);
        return;
    }
    text_add(t, "\"");
    for (; *field; field++)
        text_add_bytes(t, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    text_add(t, "\"");
}

void text_add_count(text *t, int64_t count)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < n; i++) {
        text_add_bytes(t, &digits[i], 1);
        int left = n - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-')
            text_add(t, ",");
    }
}

void text_add_size(text *t, double bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;
    while (bytes >= 1024 && u < 5) {
        bytes /= 1024;
        u++;
    }
    text_addf(t, u == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, unit[u]);
}

void text_add_double(text *t, double value)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(t, isnan(value) ? "nan" : digits);
}
