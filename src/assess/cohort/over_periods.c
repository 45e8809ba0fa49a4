/* Divides the values of a column into periods. Dates are sorted as dates, numbers as numbers, and
 * other texts alphabetically, where digits compare as numbers ("batch 2" before "batch 10"). If
 * there are more than MOST_PERIODS distinct values, dates are combined into weeks, months,
 * quarters, years or decades, and numbers into intervals of equal width. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assess/cohort/over.h"

enum { MOST_PERIODS = 24, INTERVALS = 12, MOST_TEXTS = 100, NAME = 96 };

typedef struct over_value {
    double key; /* day since 1970-01-01, number, or rank of the text */
    const char *text;
    int64_t item;
} over_value;

typedef struct over_date {
    int64_t year, month, day; /* day 0: the date has only a month */
} over_date;

/* ---- dates ---- */

/* Reads exactly `digits` digits. */
static bool over_digits(const char **at, int digits, int64_t *value)
{
    *value = 0;
    for (int k = 0; k < digits; k++, ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        *value = 10 * *value + (**at - '0');
    }
    return true;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Parses 2024-05-31, 2024/05/31, 2024-05 and 31.05.2024. A time of day after a space or a T is
 * ignored. Dates such as 5/31/2024 are ambiguous and are not recognized. */
static bool over_parse_date(const char *text, over_date *d)
{
    const char *at = text;
    bool good;
    if (strlen(text) >= 10 && text[2] == '.') {
        good = over_digits(&at, 2, &d->day) && *at++ == '.' && over_digits(&at, 2, &d->month) &&
               *at++ == '.' && over_digits(&at, 4, &d->year);
    } else {
        good = over_digits(&at, 4, &d->year) && (*at == '-' || *at == '/');
        char separator = good ? *at++ : 0;
        good = good && over_digits(&at, 2, &d->month);
        d->day = 0;
        if (good && *at)
            good = *at++ == separator && over_digits(&at, 2, &d->day) && d->day > 0;
    }
    if (!good || d->month < 1 || d->month > 12 || d->day > days_in_month(d->year, d->month))
        return false;
    return *at == 0 || (d->day > 0 && (*at == 'T' || *at == ' '));
}

/* Returns the number of days since 1970-01-01 in the Gregorian calendar (Hinnant,
 * "chrono-Compatible Low-Level Date Algorithms", days_from_civil). */
static int64_t over_day_of(over_date d)
{
    int64_t y = d.year - (d.month <= 2), era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
    int64_t doy = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + BASE_MAX(d.day, 1) - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* Converts a day number to a date, as the inverse of over_day_of (civil_from_days). */
static over_date over_date_of(int64_t day)
{
    int64_t z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    over_date d = {yoe + era * 400, mp < 10 ? mp + 3 : mp - 9, doy - (153 * mp + 2) / 5 + 1};
    d.year += d.month <= 2;
    return d;
}

typedef enum over_level { DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, LEVELS } over_level;

/* Returns a key that is the same for all days of a period and increases with time. */
static double over_level_key(over_level level, double key)
{
    int64_t day = (int64_t)key;
    over_date d = over_date_of(day);
    switch (level) {
    case WEEK: return floor((double)(day + 3) / 7); /* day 0 was a Thursday */
    case MONTH: return (double)(d.year * 12 + d.month - 1);
    case QUARTER: return (double)(d.year * 4 + (d.month - 1) / 3);
    case YEAR: return (double)d.year;
    case DECADE: return floor((double)d.year / 10);
    default: return key;
    }
}

static void over_name_date(char name[NAME], over_level level, double key)
{
    int64_t day = (int64_t)key;
    if (level == WEEK) /* go back to Monday */
        day -= ((day + 3) % 7 + 7) % 7;
    over_date d = over_date_of(day);
    long long year = (long long)d.year, month = (long long)d.month;
    if (level == DAY || level == WEEK)
        snprintf(name, NAME, "%04lld-%02lld-%02lld", year, month, (long long)d.day);
    else if (level == MONTH)
        snprintf(name, NAME, "%04lld-%02lld", year, month);
    else if (level == QUARTER)
        snprintf(name, NAME, "%04lld-Q%lld", year, (month - 1) / 3 + 1);
    else if (level == YEAR)
        snprintf(name, NAME, "%04lld", year);
    else
        snprintf(name, NAME, "%04llds", year / 10 * 10);
}

/* ---- sorting ---- */

/* Compares texts. Runs of digits are compared as numbers. */
static int over_compare_text(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
        if (m > 0 && n > 0) {
            for (; m > 1 && *x == '0'; m--)
                x++;
            for (; n > 1 && *y == '0'; n--)
                y++;
            int order = m != n ? (m > n) - (m < n) : memcmp(x, y, m);
            if (order)
                return order;
            x += m;
            y += n;
        } else {
            if (*x != *y)
                return (unsigned char)*x > (unsigned char)*y ? 1 : -1;
            x++;
            y++;
        }
    }
    return *x ? 1 : *y ? -1 : strcmp(a, b);
}

static int over_by_key(const void *a, const void *b)
{
    const over_value *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static int over_by_text(const void *a, const void *b)
{
    const over_value *x = a, *y = b;
    int order = over_compare_text(x->text, y->text);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

static int64_t over_count_keys(const over_value *v, int64_t n)
{
    int64_t count = n > 0;
    for (int64_t i = 1; i < n; i++)
        count += v[i].key != v[i - 1].key;
    return count;
}

/* ---- kinds of values ---- */

static bool over_take_dates(over_value *v, int64_t n, bool *months)
{
    *months = true;
    for (int64_t i = 0; i < n; i++) {
        over_date d;
        if (!over_parse_date(v[i].text, &d))
            return false;
        v[i].key = (double)over_day_of(d);
        *months = *months && d.day == 0;
    }
    return true;
}

static bool over_take_numbers(over_value *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!number_parse(v[i].text, &v[i].key) || !isfinite(v[i].key))
            return false;
    for (int64_t i = 0; i < n; i++)
        v[i].key += 0.0; /* make -0 equal to 0 */
    return true;
}

static void over_take_texts(over_value *v, int64_t n)
{
    double rank = 0;
    qsort(v, (size_t)n, sizeof *v, over_by_text);
    for (int64_t i = 0; i < n; i++) {
        rank += i > 0 && strcmp(v[i].text, v[i - 1].text) != 0;
        v[i].key = rank;
    }
}

/* Numbers the periods of sorted values. bin[i] is the key of the period of value i, and the key of
 * the first value in a period determines the name of the period. */
static ddsc_status over_number(ddsc_context *ctx, over_periods *p, const over_value *v,
                               const double *bin, int64_t n, over_level level, double width)
{
    char name[NAME];
    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && bin[i] == bin[i - 1]) {
            p->of[v[i].item] = (int32_t)p->n - 1;
            continue;
        }
        const char *text = name;
        if (p->kind == DDSC_OVER_DATE)
            over_name_date(name, level, v[i].key);
        else if (p->kind == DDSC_OVER_NUMBER && width > 0)
            snprintf(name, sizeof name, "%.6g to %.6g", v[0].key + width * bin[i],
                     v[0].key + width * (bin[i] + 1));
        else if (p->kind == DDSC_OVER_NUMBER)
            snprintf(name, sizeof name, "%.15g", v[i].key);
        else
            text = v[i].text;
        CHECK(text_rows_add(&p->name, p->n, text, strlen(text)));
        p->of[v[i].item] = (int32_t)p->n++;
    }
    return DDSC_OK;
}

static int64_t over_count_bins(double *bin, const over_value *v, int64_t n, over_level level)
{
    int64_t count = n > 0;
    for (int64_t i = 0; i < n; i++) {
        bin[i] = over_level_key(level, v[i].key);
        count += i > 0 && bin[i] != bin[i - 1];
    }
    return count;
}

/* Combines dates into the shortest kind of period of which there are at most MOST_PERIODS. */
static ddsc_status over_bin_dates(ddsc_context *ctx, over_periods *p, const over_value *v,
                                  double *bin, int64_t n, bool months)
{
    static const char *const units[] = {"day", "week", "month", "quarter", "year", "decade"};
    over_level level = months ? MONTH : DAY;
    while (over_count_bins(bin, v, n, level) > MOST_PERIODS && level + 1 < LEVELS)
        level++;
    p->unit = units[level];
    return over_number(ctx, p, v, bin, n, level, 0);
}

static ddsc_status over_bin_numbers(ddsc_context *ctx, over_periods *p, const over_value *v,
                                    double *bin, int64_t n)
{
    double low = v[0].key, width = 0;
    bool join = over_count_keys(v, n) > MOST_PERIODS;
    if (join)
        width = (v[n - 1].key - low) / INTERVALS;
    if (join && (!isfinite(width) || !(width > 0)))
        join = false; /* the range is too large for a double */
    for (int64_t i = 0; i < n; i++)
        bin[i] = join ? fmin(floor((v[i].key - low) / width), INTERVALS - 1) : v[i].key;
    p->unit = join ? "interval" : "value";
    return over_number(ctx, p, v, bin, n, DAY, join ? width : 0);
}

static ddsc_status over_bin_texts(ddsc_context *ctx, over_periods *p, const over_value *v,
                                  double *bin, int64_t n, const char *column)
{
    int64_t count = over_count_keys(v, n);
    if (count > MOST_TEXTS)
        return ctx_fail(
            ctx, DDSC_ERROR_ARGUMENT,
            "column \"%s\" has %lld different texts, such as \"%s\"; expected dates such "
            "as 2024-05-31, numbers, or at most %d texts",
            column, (long long)count, QUOTE(v[0].text), MOST_TEXTS);
    for (int64_t i = 0; i < n; i++)
        bin[i] = v[i].key;
    p->unit = "value";
    return over_number(ctx, p, v, bin, n, DAY, 0);
}

ddsc_status over_find_periods(ddsc_context *ctx, over_periods *p, const char *const *values,
                              const bool *used, int64_t n, const char *column)
{
    ddsc_status status = DDSC_OK;
    over_value *v = NULL;
    double *bin = NULL;
    int64_t m = 0;
    bool months = false;
    p->name.ctx = ctx;
    TRY(MEM_NEW(ctx, p->of, n));
    TRY(MEM_NEW(ctx, v, n));
    TRY(MEM_NEW(ctx, bin, n));
    for (int64_t i = 0; i < n; i++) {
        p->of[i] = -1;
        if (used[i] && values[i] && !text_is_missing(values[i]))
            v[m++] = (over_value){0, values[i], i};
    }
    p->kind = over_take_dates(v, m, &months) ? DDSC_OVER_DATE
              : over_take_numbers(v, m)      ? DDSC_OVER_NUMBER
                                             : DDSC_OVER_TEXT;
    if (p->kind == DDSC_OVER_TEXT)
        over_take_texts(v, m);
    else
        qsort(v, (size_t)m, sizeof *v, over_by_key);
    if (over_count_keys(v, m) < 2)
        TRY(ctx_fail(ctx, DDSC_ERROR_ARGUMENT,
                     "column \"%s\" has %s, so there are no periods to compare", column,
                     m > 0 ? "one distinct value" : "no values"));
    if (p->kind == DDSC_OVER_DATE)
        TRY(over_bin_dates(ctx, p, v, bin, m, months));
    else if (p->kind == DDSC_OVER_NUMBER)
        TRY(over_bin_numbers(ctx, p, v, bin, m));
    else
        TRY(over_bin_texts(ctx, p, v, bin, m, column));
    DDSC_ASSERT(invariant_range(p->of, n, -1, p->n));
done:
    MEM_FREE(ctx, bin, v);
    return status;
}

void over_periods_free(ddsc_context *ctx, over_periods *p)
{
    MEM_FREE(ctx, p->of, p->name.text, p->name.at);
}
