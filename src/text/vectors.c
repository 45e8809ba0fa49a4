/* Reads word vectors as text, with one line `word v1 ... vd` per word, as in GloVe. word2vec and
 * fastText start with a line `count dim`. After such a line, the binary format of word2vec is also
 * accepted: a word, a space, and the numbers as little-endian float32. In every text line, the
 * number of fields is checked, and the numbers must not contain invalid characters. Only the
 * vectors of requested words are parsed and stored. */
#include "text/text.h"

#include <math.h>
#include <string.h>

typedef struct vector_reader {
    ddsc_context *ctx;
    io_stream *s;
    const text_table *words;
    word_vectors *out;
    int64_t promised; /* number of words declared by the header, or -1 without a header */
    int64_t dim_line; /* line number of the line that determines the number of fields */
} vector_reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *skip_field(char *at)
{
    at += strcspn(at, " \t");
    return at + strspn(at, " \t");
}

static int64_t count_fields(char *line)
{
    int64_t n = 0;
    for (char *at = line; *at; at = skip_field(at))
        n++;
    return n;
}

/* ---- the first line ---- */

/* Parses a header line, which consists of two integers. */
static bool vector_parse_header(char *line, int64_t *count, int64_t *dim)
{
    char copy[64];
    size_t n = strlen(line);
    if (n >= sizeof copy || count_fields(line) != 2)
        return false;
    memcpy(copy, line, n + 1);
    char *second = skip_field(copy);
    copy[strcspn(copy, " \t")] = '\0';
    second[strcspn(second, " \t")] = '\0';
    return number_parse_integer(copy, count) && number_parse_integer(second, dim) && *count >= 0;
}

/* Processes the first line. Sets *is_header if it contains no vector. */
static ddsc_status vector_take_first(vector_reader *r, char *line, bool *is_header)
{
    int64_t count;
    r->dim_line = stream_line_number(r->s);
    *is_header = vector_parse_header(line, &count, &r->out->dim);
    if (*is_header)
        r->promised = count;
    else
        r->out->dim = count_fields(line) - 1;
    if (r->out->dim >= 1)
        return DDSC_OK;
    return stream_fail(r->s,
                       "line %lld: \"%s\" is not a word vector; expected a word and its "
                       "numbers, separated by spaces",
                       (long long)r->dim_line, QUOTE(line));
}

/* ---- a line ---- */

static ddsc_status fail_ragged(vector_reader *r, int64_t n_numbers)
{
    return stream_fail_line(r->s, " has %lld numbers, but line %lld requires %lld",
                            (long long)n_numbers, (long long)r->dim_line, (long long)r->out->dim);
}

static ddsc_status fail_number(vector_reader *r, const char *word, size_t n_word, const char *field)
{
    char number[QUOTE_TEXT], quoted[QUOTE_TEXT], copy[QUOTE_TEXT];
    double value;
    size_t n = strcspn(field, " \t");
    text_quote(copy, field, n);
    return stream_fail_line(r->s, ", word \"%s\": \"%s\" is not a %snumber",
                            text_quote(quoted, word, n_word), text_quote(number, field, n),
                            number_parse(copy, &value) ? "finite " : "");
}

/* Returns the start of the last `dim` fields, or NULL if there are fewer fields. */
static char *last_fields(char *line, char *end, int64_t dim)
{
    for (int64_t k = 0;; k++) {
        if (k > 0 && k == dim)
            return end;
        while (end > line && is_blank(end[-1]))
            end--;
        if (end == line)
            return NULL;
        while (end > line && !is_blank(end[-1]))
            end--;
    }
}

/* Parses the number between `field` and `end`. */
static bool parse_field(char *field, char *end, double *value)
{
    char mark = *end;
    *end = '\0';
    bool good = number_parse(field, value);
    *end = mark;
    return good;
}

/* Splits a line. The word is everything before the last `dim` numbers. Some published files contain
 * words with spaces, which match no token. However, an extra number is an error. */
static ddsc_status split_line(vector_reader *r, char *line, size_t *n_word, char **numbers)
{
    char *end = line + strlen(line);
    double number;
    *numbers = last_fields(line, end, r->out->dim);
    if (!*numbers)
        return fail_ragged(r, BASE_MAX(count_fields(line) - 1, 0));
    char *word_end = *numbers;
    while (word_end > line && is_blank(word_end[-1]))
        word_end--;
    if (word_end == line)
        return fail_ragged(r, r->out->dim - 1);
    *n_word = (size_t)(word_end - line);
    char *last = word_end;
    while (last > line && !is_blank(last[-1]))
        last--;
    if (last > line && parse_field(last, word_end, &number))
        return fail_ragged(r, count_fields(line) - 1);
    char *odd = *numbers + strspn(*numbers, "0123456789+-.eE \t");
    if (*odd == '\0')
        return DDSC_OK;
    while (!is_blank(odd[-1]))
        odd--;
    return fail_number(r, line, *n_word, odd);
}

static ddsc_status parse_vector(vector_reader *r, const char *word, size_t n_word, char *at)
{
    word_vectors *v = r->out;
    CHECK(MEM_RESERVE(r->ctx, v->point, &v->capacity, (v->n + 1) * v->dim));
    double *x = v->point + v->n * v->dim;
    for (int64_t k = 0; k < v->dim; k++) {
        char *end = at + strcspn(at, " \t"), *next = end + strspn(end, " \t");
        if (!parse_field(at, end, &x[k]) || !isfinite(x[k]))
            return fail_number(r, word, n_word, at);
        at = next;
    }
    return DDSC_OK;
}

static ddsc_status vector_take_line(vector_reader *r, char *line)
{
    word_vectors *v = r->out;
    char *numbers = NULL;
    size_t n_word = 0;
    CHECK(split_line(r, line, &n_word, &numbers));
    v->n_lines++;
    progress_add(r->ctx, 1);
    int64_t word = text_table_find(r->words, line, n_word);
    if (word < 0)
        return DDSC_OK;
    if (v->row[word] >= 0) {
        v->n_duplicates++;
        return DDSC_OK;
    }
    CHECK(parse_vector(r, line, n_word, numbers));
    v->row[word] = (int32_t)v->n++;
    return DDSC_OK;
}

/* ---- the file ---- */

static ddsc_status check_content(io_stream *s, bool *binary)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t n;
    CHECK(io_peek_content(s, head, &n));
    *binary = false;
    for (size_t k = 0; k < n;
         k++) /* binary numbers almost always contain bytes that do not occur in text */
        *binary = *binary || (head[k] < 0x20 && !strchr("\t\n\v\f\r", head[k])) || head[k] == 0;
    return n ? DDSC_OK : stream_fail(s, "is empty");
}

static ddsc_status vector_check_count(const vector_reader *r)
{
    const word_vectors *v = r->out;
    if (v->n_lines == 0)
        return stream_fail(r->s, "contains no word vectors");
    if (r->promised >= 0 && r->promised != v->n_lines)
        return stream_fail(r->s,
                           "line %lld declares %lld words, but %lld follow; if the file was "
                           "shortened on purpose, remove this line",
                           (long long)r->dim_line, (long long)r->promised, (long long)v->n_lines);
    return DDSC_OK;
}

static ddsc_status read_lines(vector_reader *r)
{
    char *line;
    size_t n;
    for (;;) {
        bool is_header = false;
        CHECK(stream_line(r->s, &line, &n));
        if (!line)
            break;
        if (stream_line_number(r->s) == 1)
            line = text_skip_mark(line);
        line += strspn(line, " \t");
        if (*line == '\0')
            continue;
        if (r->out->dim == 0)
            CHECK(vector_take_first(r, line, &is_header));
        if (!is_header)
            CHECK(vector_take_line(r, line));
    }
    return DDSC_OK;
}

/* ---- the binary form ---- */

enum { BINARY_WORD = 2000, BINARY_DIM = 1 << 20 };

static ddsc_status binary_header(vector_reader *r)
{
    char line[64];
    size_t n = 0;
    for (; n + 1 < sizeof line; n++) {
        CHECK(stream_read_exact(r->s, line + n, 1, "the line with count and dimension"));
        if (line[n] == '\n')
            break;
    }
    line[n] = '\0';
    if (!vector_parse_header(line, &r->promised, &r->out->dim) || r->out->dim < 1 ||
        r->out->dim > BINARY_DIM)
        return stream_fail(r->s, "is binary, but does not start with a line of two numbers (count "
                                 "and dimension), as in word2vec files");
    int64_t bytes;
    if (!mul_ok(r->promised, 4 * r->out->dim + 2, &bytes))
        bytes = INT64_MAX;
    return stream_check_declared(r->s, bytes, "word vectors");
}

/* Reads a word up to the next space. Skips the line ending that some programs write after a
 * vector. */
static ddsc_status binary_word(vector_reader *r, char *word, size_t *n)
{
    for (*n = 0;;) {
        char c;
        CHECK(stream_read_exact(r->s, &c, 1, "a word"));
        if (c == ' ')
            return DDSC_OK;
        if (*n == 0 && (c == '\n' || c == '\r'))
            continue;
        if (*n == BINARY_WORD)
            return stream_fail(r->s, "word %lld has more than %d bytes; the file is damaged",
                               (long long)r->out->n_lines + 1, BINARY_WORD);
        word[(*n)++] = c;
    }
}

/* Converts a word from another encoding to UTF-8. An invalid word matches no document. */
static size_t binary_utf8(const vector_reader *r, char *word, size_t n)
{
    char given[BINARY_WORD];
    if (ctx_encoding(r->ctx) == DDSC_ENCODING_UTF8)
        return n;
    memcpy(given, word, n);
    return text_convert(word, given, n, ctx_encoding(r->ctx));
}

static ddsc_status binary_take(vector_reader *r, const char *word, size_t n,
                               const unsigned char *bytes)
{
    word_vectors *v = r->out;
    int64_t number = text_table_find(r->words, word, n);
    char quoted[QUOTE_TEXT];
    v->n_lines++;
    progress_add(r->ctx, 1);
    if (number < 0)
        return DDSC_OK;
    if (v->row[number] >= 0) {
        v->n_duplicates++;
        return DDSC_OK;
    }
    CHECK(MEM_RESERVE(r->ctx, v->point, &v->capacity, (v->n + 1) * v->dim));
    double *x = v->point + v->n * v->dim;
    numbers_to_double(x, bytes, v->dim, (num_type){'f', 4, !NUM_HOST_LITTLE});
    for (int64_t k = 0; k < v->dim; k++)
        if (!isfinite(x[k]))
            return stream_fail(r->s, "word \"%s\": number %lld is not finite",
                               text_quote(quoted, word, n), (long long)k + 1);
    v->row[number] = (int32_t)v->n++;
    return DDSC_OK;
}

/* Checks that the file ends here. If the declared count were too small, words would silently be
 * missing. */
static ddsc_status binary_end(vector_reader *r)
{
    char c;
    size_t got;
    do
        CHECK(stream_read(r->s, &c, 1, &got));
    while (got > 0 && (c == '\n' || c == '\r'));
    if (got > 0)
        return stream_fail(r->s, "declares %lld words, but more bytes follow; the file is damaged",
                           (long long)r->promised);
    return DDSC_OK;
}

static ddsc_status read_binary(vector_reader *r)
{
    ddsc_status status = DDSC_OK;
    unsigned char *bytes = NULL;
    char word[3 * BINARY_WORD + 1];
    size_t n;
    TRY(binary_header(r));
    TRY(mem_get(r->ctx, &bytes, r->out->dim, 4));
    for (int64_t k = 0; k < r->promised; k++) {
        TRY(binary_word(r, word, &n));
        n = binary_utf8(r, word, n);
        TRY(stream_read_exact(r->s, bytes, 4 * (size_t)r->out->dim, "a word vector"));
        TRY(binary_take(r, word, n, bytes));
    }
    TRY(binary_end(r));
done:
    mem_free(r->ctx, bytes);
    return status;
}

ddsc_status words_read_vectors(ddsc_context *ctx, word_vectors *v, io_stream *s,
                               const text_table *words)
{
    vector_reader r = {.ctx = ctx, .s = s, .words = words, .out = v, .promised = -1};
    bool binary;
    CHECK(check_content(s, &binary));
    CHECK(MEM_NEW(ctx, v->row, words->n));
    for (int64_t k = 0; k < words->n; k++)
        v->row[k] = -1;
    progress_begin(ctx, "word vectors", 0);
    CHECK(binary ? read_binary(&r) : read_lines(&r));
    progress_end(ctx);
    return vector_check_count(&r);
}

void words_free_vectors(ddsc_context *ctx, word_vectors *v)
{
    MEM_FREE(ctx, v->point, v->mass, v->row);
    *v = (word_vectors){0};
}
