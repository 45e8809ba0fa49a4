/* The default rule for words. This rule keeps punctuation that belongs to a word and removes other
 * punctuation, so that "C#", ".NET", "node.js" and "AT&T" are single words, but "(end)." becomes
 * "end".
 *
 * Step 1 decodes the text. Characters that look the same are unified: typographic apostrophes,
 * hyphens and full-width forms become ASCII, ligatures and HTML entities are replaced, and a letter
 * followed by a combining accent becomes the accented letter (NFC). Invisible characters are
 * removed. Letters are converted to lower case, and the flag UPPER marks former capitals.
 *
 * Step 2 splits the characters. A word is a run of letters and digits. It may also contain
 * punctuation that satisfies one of the rules of `joins`. Each pictograph is a word. Chinese,
 * Japanese, Thai, Lao, Burmese and Khmer are written without spaces. A run of characters in these
 * scripts is split into overlapping pairs, as in the CJK analyzer of Lucene. Korean and katakana (a
 * run of which is usually one loanword) are treated like other letters. */
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

enum { UPPER = 1 << 24, CODE = UPPER - 1, SOFT_HYPHEN = 0xad };
/* Maximum lengths of an ending after a period ("js", "net") and of a number after a hyphen
 * ("covid-19"). */
enum { ENDING = 3, NUMBER = 3 };

/* ---- step 1: characters ---- */

/* For each combining mark, its base letters and the accented letters. */
static const struct {
    uint32_t mark;
    const char *base;
    uint16_t composed[16];
} accents[] = {{0x300, "aeioun", {0xe0, 0xe8, 0xec, 0xf2, 0xf9, 0x1f9}},
               {0x301,
                "aeiouycnszlr",
                {0xe1, 0xe9, 0xed, 0xf3, 0xfa, 0xfd, 0x107, 0x144, 0x15b, 0x17a, 0x13a, 0x155}},
               {0x302,
                "aeiouwycghjs",
                {0xe2, 0xea, 0xee, 0xf4, 0xfb, 0x175, 0x177, 0x109, 0x11d, 0x125, 0x135, 0x15d}},
               {0x303, "anoiu", {0xe3, 0xf1, 0xf5, 0x129, 0x169}},
               {0x304, "aeiou", {0x101, 0x113, 0x12b, 0x14d, 0x16b}},
               {0x306, "agu", {0x103, 0x11f, 0x16d}},
               {0x307, "ezcg", {0x117, 0x17c, 0x10b, 0x121}},
               {0x308, "aeiouy", {0xe4, 0xeb, 0xef, 0xf6, 0xfc, 0xff}},
               {0x30a, "au", {0xe5, 0x16f}},
               {0x30b, "ou", {0x151, 0x171}},
               {0x30c, "cdenrstz", {0x10d, 0x10f, 0x11b, 0x148, 0x159, 0x161, 0x165, 0x17e}},
               {0x327, "cst", {0xe7, 0x15f, 0x163}},
               {0x328, "aeiu", {0x105, 0x119, 0x12f, 0x173}}};

/* Returns the letter with the combining mark as one character, or 0 if there is none. */
static uint32_t compose(uint32_t base, uint32_t mark)
{
    if (mark == 0x306 && base == 0x438) /* Cyrillic short i and yo */
        return 0x439;
    if (mark == 0x308 && base == 0x435)
        return 0x451;
    for (size_t k = 0; k < sizeof accents / sizeof *accents; k++) {
        const char *at = base < 0x80 && base ? strchr(accents[k].base, (int)base) : NULL;
        if (accents[k].mark == mark && at)
            return accents[k].composed[at - accents[k].base];
    }
    return 0;
}

/* Replaces variants of ASCII characters. */
static uint32_t plain_form(uint32_t c)
{
    if (c == 0x2018 || c == 0x2019 || c == 0x2bc)
        return '\'';
    if (c == 0x2010 || c == 0x2011)
        return '-';
    if (c >= 0xff01 && c <= 0xff5e)
        return c - 0xfee0;
    return c;
}

static bool is_invisible(uint32_t c)
{
    return c == SOFT_HYPHEN || c == 0x200c || c == 0x200d || c == 0x2060 || c == 0xfeff ||
           (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0x1f3fb && c <= 0x1f3ff);
}

/* Decodes an HTML entity such as "&amp;" or "&#163;". Returns 0 and leaves *at unchanged if there
 * is none. */
static uint32_t entity(const unsigned char **at)
{
    static const struct {
        const char *name;
        uint32_t code;
    } named[] = {{"amp;", '&'},  {"lt;", '<'},    {"gt;", '>'},
                 {"quot;", '"'}, {"apos;", '\''}, {"nbsp;", ' '}};
    const char *from = (const char *)*at + 1;
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (strncmp(from, named[k].name, strlen(named[k].name)) == 0) {
            *at += 1 + strlen(named[k].name);
            return named[k].code;
        }
    bool hex = from[0] == '#' && (from[1] == 'x' || from[1] == 'X');
    const char *digits = from + (hex ? 2 : 1);
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (from[0] != '#' || n < 1 || n > 6 || digits[n] != ';')
        return 0;
    unsigned long code = strtoul(digits, NULL, hex ? 16 : 10);
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *at = (const unsigned char *)digits + n + 1;
    return (uint32_t)code;
}

/* Writes the characters of the text to `code` and returns their number, which is at most the number
 * of bytes. */
static int64_t decode_text(uint32_t *code, const char *text)
{
    static const char *const ligatures[] = {"ff", "fi", "fl", "ffi", "ffl"};
    int64_t n = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        uint32_t c = *at == '&' ? entity(&at) : 0;
        c = plain_form(c ? c : token_decode(&at));
        if (is_invisible(c))
            continue;
        if (c >= 0xfb00 && c <= 0xfb04) {
            for (const char *letter = ligatures[c - 0xfb00]; *letter; letter++)
                code[n++] = (uint32_t)*letter;
            continue;
        }
        uint32_t both = n > 0 ? compose(code[n - 1] & CODE, c) : 0;
        if (both) {
            code[n - 1] = both | (code[n - 1] & UPPER);
            continue;
        }
        uint32_t small = token_lower(c);
        code[n++] = small | (small != c ? UPPER : 0);
    }
    return n;
}

/* ---- step 2: words ---- */

typedef enum char_class { BREAK, LETTER, DIGIT, PICTOGRAPH, UNSPACED } char_class;

static bool code_between(uint32_t c, uint32_t first, uint32_t last)
{
    return c >= first && c <= last;
}

/* Returns true for scripts without spaces between words. */
static bool is_unspaced(uint32_t c)
{
    return code_between(c, 0x4e00, 0x9fff) || code_between(c, 0x3400, 0x4dbf) ||
           code_between(c, 0x3041, 0x309f) || c == 0x3005 || c == 0x3007 ||
           code_between(c, 0xf900, 0xfaff) || code_between(c, 0x20000, 0x323af) ||
           code_between(c, 0xe00, 0xeff) || code_between(c, 0x1000, 0x109f) ||
           code_between(c, 0x1780, 0x17ff);
}

static char_class char_class_of(uint32_t code)
{
    uint32_t c = code & CODE;
    if (code_between(c, '0', '9'))
        return DIGIT;
    if (c < 0x80)
        return token_break_nonletter(c) ? BREAK : LETTER;
    if (is_unspaced(c))
        return UNSPACED;
    if (code_between(c, 0x1f000, 0x1faff) || code_between(c, 0x2600, 0x27bf))
        return PICTOGRAPH;
    if (code_between(c, 0x300, 0x36f)) /* combining marks */
        return LETTER;
    return c == 0x30fb || token_break_nonletter(c) ? BREAK : LETTER;
}

/* The characters of a text. */
typedef struct char_text {
    const uint32_t *code;
    int64_t n;
} char_text;

static uint32_t at(const char_text *t, int64_t k)
{
    return k >= 0 && k < t->n ? t->code[k] & CODE : ' ';
}

static char_class class_at(const char_text *t, int64_t k)
{
    return k >= 0 && k < t->n ? char_class_of(t->code[k]) : BREAK;
}

static bool is_alphanumeric(const char_text *t, int64_t k)
{
    return class_at(t, k) == LETTER || class_at(t, k) == DIGIT;
}

/* Returns the end of the run of letters and digits that begins at k. */
static int64_t run_end(const char_text *t, int64_t k)
{
    while (is_alphanumeric(t, k))
        k++;
    return k;
}

static bool all_of(const char_text *t, int64_t begin, int64_t end, char_class which)
{
    for (int64_t k = begin; k < end; k++)
        if (class_at(t, k) != which)
            return false;
    return true;
}

/* Returns true for "Then", but not for "js", "JS" or "jS". */
static bool is_capitalized(const char_text *t, int64_t begin, int64_t end)
{
    return end - begin > 1 && t->code[begin] & UPPER && !(t->code[begin + 1] & UPPER);
}

/* Returns true if the period at k joins digits of a number, letters of an abbreviation ("u.s."), or
 * a name and a short ending ("node.js", "asp.net", "bbc.co.uk"). A capitalized word after a period
 * begins a sentence. */
static bool period_joins(const char_text *t, int64_t begin, int64_t k, int64_t end)
{
    if (class_at(t, k - 1) == DIGIT && class_at(t, k + 1) == DIGIT)
        return true;
    if (class_at(t, k - 1) != LETTER || class_at(t, k + 1) != LETTER)
        return false;
    if (k - begin == 1)
        return end - k - 1 == 1;
    return end - k - 1 <= ENDING && !is_capitalized(t, k + 1, end);
}

/* Returns true if the punctuation at k joins the run [begin, k) and the following run into one
 * word. */
static bool joins(const char_text *t, int64_t begin, int64_t k)
{
    int64_t end = run_end(t, k + 1), left = k - begin, right = end - k - 1;
    if (left == 0 || right == 0)
        return false;
    switch (at(t, k)) {
    case '\'': return class_at(t, k - 1) == LETTER && class_at(t, k + 1) == LETTER;
    case '.': return period_joins(t, begin, k, end);
    case '-': /* x-ray, e-mail; covid-19, f-16 */
        return all_of(t, begin, k, LETTER) && ((left == 1 && all_of(t, k + 1, end, LETTER)) ||
                                               (right <= NUMBER && all_of(t, k + 1, end, DIGIT)));
    case '&': /* r&d, at&t */ return (left == 1 || right == 1) && left <= 2 && right <= 2;
    case '/': /* i/o, n/a */
        return left == 1 && right == 1 && all_of(t, begin, k, LETTER) &&
               all_of(t, k + 1, end, LETTER);
    default: return false;
    }
}

/* Returns true for the comma of "1,000", which is removed. */
static bool separates_thousands(const char_text *t, int64_t k)
{
    return at(t, k) == ',' && class_at(t, k - 1) == DIGIT && run_end(t, k + 1) == k + 4 &&
           all_of(t, k + 1, k + 4, DIGIT);
}

/* Returns the number of characters of "#", "+" or "++" that end a word such as "c#", "g++" or
 * "disney+". */
static int64_t suffix_length(const char_text *t, int64_t begin, int64_t k)
{
    if (k == begin || !all_of(t, begin, k, LETTER))
        return 0;
    if (at(t, k) == '#')
        return k - begin <= 2 && !is_alphanumeric(t, k + 1) && at(t, k + 1) != '#';
    if (at(t, k) != '+')
        return 0;
    if (at(t, k + 1) == '+')
        return at(t, k + 2) == '+' ? 0 : 2;
    return k - begin > 1 && !is_alphanumeric(t, k + 1);
}

/* Returns true for the period of ".net", which must follow whitespace, a bracket, a slash or a
 * quote. */
static bool begins_with_period(const char_text *t, int64_t k)
{
    static const char before[] = " \t\r\n([/'\"";
    int64_t end = run_end(t, k + 1);
    return at(t, k) == '.' && at(t, k - 1) < 0x80 && strchr(before, (int)at(t, k - 1)) &&
           end - k > 2 && all_of(t, k + 1, end, LETTER) && !is_capitalized(t, k + 1, end);
}

/* ---- output ---- */

typedef struct word_writer {
    char *out;    /* words, each followed by a space */
    int64_t word; /* start of the current word */
    int64_t n;
} word_writer;

static void write_character(word_writer *w, uint32_t c)
{
    w->n = token_encode(w->out + w->n, c) - w->out;
}

/* Removes a final "'s" or "'", so that "bank's" and "bank" are the same word, and ends the word. */
static void end_word(word_writer *w)
{
    int64_t length = w->n - w->word;
    const char *last = w->out + w->n;
    if (length > 2 && last[-2] == '\'' && last[-1] == 's')
        w->n -= 2;
    if (w->n > w->word)
        w->out[w->n++] = ' ';
    w->word = w->n;
}

/* Returns true for an article before an apostrophe, which is a separate word in French and Italian:
 * l'eau, d'oro. */
static bool is_elided(const char_text *t, int64_t begin, int64_t k)
{
    if (at(t, k) != '\'' || run_end(t, k + 1) < k + 3)
        return false;
    if (k - begin == 1)
        return at(t, begin) < 0x80 && strchr("cdjlmnst", (int)at(t, begin)) != NULL;
    return k - begin == 2 && at(t, begin) == 'q' && at(t, begin + 1) == 'u';
}

/* Writes the word that begins at k, and returns the index after it. */
static int64_t write_word(word_writer *w, const char_text *t, int64_t k)
{
    int64_t begin = k;
    bool abbreviation = false;
    if (at(t, k) == '.') {
        write_character(w, '.');
        begin = ++k;
    }
    for (;;) {
        while (is_alphanumeric(t, k))
            write_character(w, at(t, k++));
        if (separates_thousands(t, k)) {
            k++;
            continue;
        }
        if (!joins(t, begin, k))
            break;
        if (is_elided(t, begin, k)) {
            end_word(w);
        } else {
            abbreviation = at(t, k) == '.' && k - begin == 1 && class_at(t, k - 1) == LETTER;
            write_character(w, at(t, k));
        }
        begin = ++k;
    }
    for (int64_t more = suffix_length(t, begin, k); more > 0; more--)
        write_character(w, at(t, k++));
    if (abbreviation) /* "u.s." and "u.s" are the same word */
        write_character(w, '.');
    end_word(w);
    return k;
}

/* Writes the overlapping pairs of a run of unspaced characters, or its single character. */
static int64_t write_pairs(word_writer *w, const char_text *t, int64_t k)
{
    int64_t begin = k;
    while (class_at(t, k) == UNSPACED)
        k++;
    for (int64_t first = begin; first < k && (first + 1 < k || k - begin == 1); first++) {
        write_character(w, at(t, first));
        if (k - begin > 1)
            write_character(w, at(t, first + 1));
        end_word(w);
    }
    return k;
}

ddsc_status token_reader_split_words(ddsc_context *ctx, token_reader *t, const char *text)
{
    int64_t bytes = (int64_t)strlen(text);
    /* A pair of 3-byte characters needs 7 bytes with the space, and "u.s" becomes "u.s. ". A
     * character with a space after it needs at most 3 times the bytes of the character, because an
     * invalid byte becomes two bytes. */
    CHECK(MEM_RESERVE(ctx, t->folded, &t->capacity, 3 * bytes + 8));
    CHECK(MEM_RESERVE(ctx, t->code, &t->code_capacity, bytes + 1));
    char_text c = {.code = t->code, .n = decode_text(t->code, text)};
    word_writer w = {.out = t->folded};
    for (int64_t k = 0; k < c.n;) {
        char_class class = class_at(&c, k);
        if (class == UNSPACED) {
            k = write_pairs(&w, &c, k);
        } else if (class == PICTOGRAPH) {
            write_character(&w, at(&c, k++));
            end_word(&w);
        } else if (class != BREAK || begins_with_period(&c, k)) {
            k = write_word(&w, &c, k);
        } else {
            k++;
        }
    }
    DDSC_ASSERT(w.n <= 3 * bytes);
    t->folded[w.n] = '\0';
    t->at = t->folded;
    return DDSC_OK;
}
