/* Locale-independent conversion of numbers, text for messages, and packed tables of distinct
 * strings. */
#include "base/text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

typedef struct decimal {
    bool negative, fits; /* fits: the mantissa has at most 19 digits, so it did not overflow */
    uint64_t mantissa;
    int64_t exponent;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits into the mantissa; leading zeros are not significant. Returns the number of
 * digits read. */
static int64_t scan_digits(const char **at, decimal *x, int *n_significant)
{
    const char *from = *at;
    for (; is_digit(**at); (*at)++) {
        if (*n_significant > 0 || **at != '0')
            (*n_significant)++;
        if (*n_significant <= 19)
            x->mantissa = 10 * x->mantissa + (uint64_t)(**at - '0');
    }
    return *at - from;
}

static bool scan_exponent(const char **at, decimal *x)
{
    (*at)++;
    bool negative = **at == '-';
    if (**at == '-' || **at == '+')
        (*at)++;
    if (!is_digit(**at))
        return false;
    int64_t e = 0;
    for (; is_digit(**at); (*at)++)
        e = BASE_MIN(10 * e + (**at - '0'), (int64_t)1000000);
    x->exponent += negative ? -e : e;
    return true;
}

static bool scan_decimal(const char *text, decimal *x)
{
    int n_significant = 0;
    *x = (decimal){0};
    x->negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int64_t n_digits = scan_digits(&text, x, &n_significant);
    if (*text == '.') {
        text++;
        int64_t n_after = scan_digits(&text, x, &n_significant);
        x->exponent = -n_after;
        n_digits += n_after;
    }
    x->fits = n_significant <= 19;
    if (n_digits == 0 || ((*text == 'e' || *text == 'E') && !scan_exponent(&text, x)))
        return false;
    return *text == '\0';
}

static bool parse_special(const char *text, double *value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (strcasecmp(text, "nan") == 0)
        *value = NAN;
    else if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
        *value = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* If the mantissa is below 2^53 and the power of ten at most 10^22, a single correctly rounded
 * operation gives the result (Clinger 1990). Otherwise the C library converts the number in the
 * C locale. */
bool number_parse(const char *text, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal x;
    if (!scan_decimal(text, &x))
        return parse_special(text, value);
    if (x.fits && x.mantissa < (uint64_t)1 << 53 && x.exponent >= -22 && x.exponent <= 22) {
        double v = (double)x.mantissa;
        v = x.exponent < 0 ? v / power[-x.exponent] : v * power[x.exponent];
        *value = x.negative ? -v : v;
        return true;
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return true;
}

bool number_parse_integer(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!is_digit(*text))
        return false;
    int64_t v = 0;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, *text - '0', &v))
            return false;
    if (*text != '\0' || (!negative && v == INT64_MIN))
        return false;
    *value = negative ? v : -v;
    return true;
}

int number_format(char out[NUMBER_TEXT], double value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    int n = snprintf(out, NUMBER_TEXT, "%.17g", value);
    uselocale(before);
    freelocale(plain);
    return n;
}

/* ---- UTF-8 ---- */

int64_t text_next_char(const unsigned char **at)
{
    unsigned char c = *(*at)++;
    if (c < 0x80)
        return c;
    int n_more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    static const int64_t least[] = {0, 0x80, 0x800, 0x10000};
    if (c < 0xc2 || c > 0xf4)
        return -1;
    int64_t value = c & (0x3f >> n_more);
    for (int k = 0; k < n_more; k++, (*at)++) {
        if ((**at & 0xc0) != 0x80)
            return -1;
        value = value << 6 | (**at & 0x3f);
    }
    bool good = value >= least[n_more] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
    return good ? value : -1;
}

int64_t text_count_chars(const char *text)
{
    int64_t n = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at; n++)
        if (text_next_char(&at) < 0)
            return -1;
    return n;
}

/* Copies only complete characters. Replaces invalid UTF-8 and control characters with question
 * marks. */
const char *text_quote(char out[QUOTE_TEXT], const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strnlen(text, n);
    size_t k = 0;
    while (at < end) {
        const unsigned char *from = at;
        int64_t c = text_next_char(&at);
        bool plain = c >= 0x20 && c != 0x7f && at <= end;
        at = plain ? at : from + 1;
        if (k + (size_t)(at - from) > QUOTE_TEXT - 4) {
            memcpy(out + k, "...", 3);
            k += 3;
            break;
        }
        if (plain)
            memcpy(out + k, from, (size_t)(at - from));
        else
            out[k] = '?';
        k += (size_t)(at - from);
    }
    out[k] = '\0';
    return out;
}

static char glob_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* On a mismatch, the last star consumes one more byte. Earlier stars need not be reconsidered. */
bool text_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern && (*pattern == '?' || glob_lower(*pattern) == glob_lower(*text))) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++taken;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

size_t text_cut(const char *text, size_t n, size_t most)
{
    if (n <= most)
        return n;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

size_t text_tidy(char *out, const char *text, int64_t most)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t k = 0;
    bool blank = true; /* true, so that leading spaces are dropped */
    for (int64_t n = 0; *at && n < most;) {
        const unsigned char *from = at;
        int64_t c = text_next_char(&at);
        bool odd = c < 0;
        if (odd) {
            at = from + 1;
            c = *from;
        }
        if (c <= 0x20 || (c >= 0x7f && c <= 0xa0)) {
            if (!blank)
                out[k++] = ' ';
            n += !blank;
            blank = true;
            continue;
        }
        if (odd) {
            out[k++] = (char)(0xc0 | c >> 6);
            out[k++] = (char)(0x80 | (c & 0x3f));
        } else {
            memcpy(out + k, from, (size_t)(at - from));
            k += (size_t)(at - from);
        }
        blank = false;
        n++;
    }
    k -= k > 0 && out[k - 1] == ' ';
    out[k] = '\0';
    return k;
}

char *text_skip_mark(char *line)
{
    return strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
}

/* ---- tables of distinct strings ---- */

const char *text_table_get(const text_table *t, int64_t number)
{
    return t->text + t->at[number];
}

static bool same_text(const text_table *t, int64_t number, const char *text, size_t n)
{
    return (size_t)(t->at[number + 1] - t->at[number]) == n + 1 &&
           memcmp(text_table_get(t, number), text, n) == 0;
}

/* Returns the slot that contains this text, or the free slot where it would be inserted. */
static int64_t find_slot(const text_table *t, const char *text, size_t n)
{
    int64_t i = (int64_t)(hash_bytes(text, n, 0) & (uint64_t)(t->n_slots - 1));
    while (t->slot[i] != 0 && !same_text(t, t->slot[i] - 1, text, n))
        i = (i + 1) & (t->n_slots - 1);
    return i;
}

int64_t text_table_find(const text_table *t, const char *text, size_t n)
{
    return t->n_slots ? t->slot[find_slot(t, text, n)] - 1 : -1;
}

static ddsc_status grow_slots(ddsc_context *ctx, text_table *t)
{
    int64_t n_slots = t->n_slots ? 2 * t->n_slots : 64;
    int64_t *slot;
    CHECK(MEM_ZERO(ctx, slot, n_slots));
    mem_free(ctx, t->slot);
    t->slot = slot;
    t->n_slots = n_slots;
    for (int64_t k = 0; k < t->n; k++) {
        size_t n = (size_t)(t->at[k + 1] - t->at[k] - 1);
        t->slot[find_slot(t, text_table_get(t, k), n)] = k + 1;
    }
    return DDSC_OK;
}

ddsc_status text_table_add(ddsc_context *ctx, text_table *t, const char *text, size_t n,
                           int64_t *number, bool *is_new)
{
    if (2 * (t->n + 1) > t->n_slots)
        CHECK(grow_slots(ctx, t));
    int64_t slot = find_slot(t, text, n);
    *is_new = t->slot[slot] == 0;
    if (!*is_new) {
        *number = t->slot[slot] - 1;
        return DDSC_OK;
    }
    int64_t start = t->n ? t->at[t->n] : 0;
    CHECK(MEM_RESERVE(ctx, t->text, &t->text_capacity, start + (int64_t)n + 1));
    CHECK(MEM_RESERVE(ctx, t->at, &t->at_capacity, t->n + 2));
    memcpy(t->text + start, text, n);
    t->text[start + (int64_t)n] = '\0';
    t->at[t->n] = start;
    t->at[t->n + 1] = start + (int64_t)n + 1;
    *number = t->n++;
    t->slot[slot] = t->n;
    return DDSC_OK;
}

void text_table_free(ddsc_context *ctx, text_table *t)
{
    MEM_FREE(ctx, t->text, t->at, t->slot);
    *t = (text_table){0};
}

ddsc_status text_rows_add(text_rows *rows, int64_t i, const char *text, size_t n)
{
    int64_t at = i ? rows->at[i] : 0;
    CHECK(MEM_RESERVE(rows->ctx, rows->at, &rows->at_capacity, i + 2));
    CHECK(MEM_RESERVE(rows->ctx, rows->text, &rows->text_capacity, at + (int64_t)n + 1));
    memcpy(rows->text + at, text, n);
    rows->text[at + (int64_t)n] = '\0';
    rows->at[i] = at;
    rows->at[i + 1] = at + (int64_t)n + 1;
    return DDSC_OK;
}

ddsc_status text_each_listed(const char *list, ddsc_status (*fn)(void *arg, const char *name),
                             void *arg)
{
    char name[256];
    for (const char *at = list;; at++) {
        at += strspn(at, " ");
        size_t n = strcspn(at, ","), length = BASE_MIN(n, sizeof name - 1);
        while (length > 0 && at[length - 1] == ' ')
            length--;
        memcpy(name, at, length);
        name[length] = '\0';
        CHECK(fn(arg, name));
        at += n;
        if (*at == '\0')
            return DDSC_OK;
    }
}

bool text_is_missing(const char *text)
{
    static const char *const words[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(text, words[k]) == 0)
            return true;
    return false;
}
