/* Streams, lines, numbers and string tables, on which the readers are based. */
#include "io_support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <zlib.h>

/* Returns gzip-compressed bytes in malloc'd memory. */
static unsigned char *gzip_bytes(const void *bytes, size_t n, size_t *n_out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t capacity = deflateBound(&z, n) + 64;
    unsigned char *out = malloc(capacity);
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *n_out = capacity - z.avail_out;
    deflateEnd(&z);
    return out;
}

static io_stream *open_bytes(ddsc_context *ctx, const void *bytes, size_t n)
{
    io_stream *s = NULL;
    assert_ok(ctx, stream_open_memory(ctx, &s, "memory", bytes, n, 1 << 30), "open");
    return s;
}

/* Reads of any size give the same bytes, plain or compressed, with or without an earlier peek. */
static void test_blocks(void **state)
{
    (void)state;
    enum { N = 300000 };
    unsigned char *data = malloc(N), *got = malloc(N + 1);
    rng r = rng_make(5, RNG_SUBSET, 0);
    for (int i = 0; i < N; i++)
        data[i] = (unsigned char)rng_below(&r, 7);
    size_t n_packed;
    unsigned char *packed = gzip_bytes(data, N, &n_packed);
    ddsc_context *ctx = test_context(1, 0);
    for (int k = 0; k < 12; k++) {
        io_stream *s = open_bytes(ctx, k % 2 ? packed : data, k % 2 ? n_packed : N);
        size_t have = 0, n = 1, ask[] = {1, 77, 4096, 65536, 100000, N + 1};
        if (k % 3 == 0) {
            assert_ok(ctx, stream_peek(s, got, 4096, &n), "peek");
            assert_int_equal(n, 4096);
            assert_memory_equal(got, data, n);
        }
        assert_true(stream_remaining_bound(s) >= N);
        for (; n > 0; have += n)
            assert_ok(ctx, stream_read(s, got + have, BASE_MIN(ask[k / 2], N + 1 - have), &n),
                      "read");
        assert_int_equal(have, N);
        assert_memory_equal(got, data, N);
        stream_close(s);
    }
    ddsc_context_destroy(ctx);
    free(data);
    free(got);
    free(packed);
}

/* Several gzip members form one stream; zero padding is accepted. */
static void test_members(void **state)
{
    (void)state;
    size_t na, nb;
    unsigned char *a = gzip_bytes("first,", 6, &na), *b = gzip_bytes("second", 6, &nb);
    unsigned char *all = calloc(na + nb + 100, 1);
    memcpy(all, a, na);
    memcpy(all + na, b, nb);
    ddsc_context *ctx = test_context(1, 0);
    for (size_t pad = 0; pad <= 100; pad += 50) {
        io_stream *s = open_bytes(ctx, all, na + nb + pad);
        char got[32] = "";
        size_t n;
        assert_ok(ctx, stream_read(s, got, sizeof got, &n), "read");
        assert_string_equal(got, "first,second");
        stream_close(s);
    }
    ddsc_context_destroy(ctx);
    free(a);
    free(b);
    free(all);
}

static void test_lines(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    char *text = malloc(LONG + 64), *line;
    int n = sprintf(text, "one\r\n\n");
    memset(text + n, 'x', LONG);
    n += LONG;
    n += sprintf(text + n, "\nlast, \xc3\xa9 without end");
    ddsc_context *ctx = test_context(1, 0);
    io_stream *s = open_bytes(ctx, text, (size_t)n);
    size_t length;
    assert_ok(ctx, stream_line(s, &line, &length), "line");
    assert_string_equal(line, "one");
    assert_ok(ctx, stream_line(s, &line, &length), "line");
    assert_string_equal(line, "");
    assert_ok(ctx, stream_line(s, &line, &length), "line");
    assert_int_equal(length, LONG);
    assert_int_equal(strspn(line, "x"), LONG);
    assert_ok(ctx, stream_line(s, &line, &length), "line");
    assert_string_equal(line, "last, \xc3\xa9 without end");
    assert_int_equal(stream_line_number(s), 4);
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, stream_line(s, &line, &length), "end");
        assert_null(line);
    }
    stream_close(s);
    ddsc_context_destroy(ctx);
    free(text);
}

/* Lines of every length around the buffer's edge. */
static void test_line_edges(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    char *text = malloc(70000), *line;
    for (int first = 65530; first < 65542; first++) {
        memset(text, 'a', (size_t)first);
        strcpy(text + first, "\nbb\n");
        io_stream *s = open_bytes(ctx, text, (size_t)first + 4);
        size_t n;
        assert_ok(ctx, stream_line(s, &line, &n), "line");
        assert_int_equal(n, first);
        assert_ok(ctx, stream_line(s, &line, &n), "line");
        assert_string_equal(line, "bb");
        stream_close(s);
    }
    free(text);
    ddsc_context_destroy(ctx);
}

static void test_limits(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    char data[5000] = {1}, got[5000];
    size_t n_packed, n;
    unsigned char *packed = gzip_bytes(data, sizeof data, &n_packed);
    for (int k = 0; k < 2; k++) {
        io_stream *s = NULL;
        ctx_enter(ctx);
        assert_ok(ctx,
                  stream_open_memory(ctx, &s, "limited", k ? (char *)packed : data,
                                     k ? n_packed : sizeof data, 4000),
                  "open");
        ddsc_status status = stream_read(s, got, sizeof got, &n);
        assert_message(ctx, status, DDSC_ERROR_INPUT, "limit", "limited|limit of 4000 bytes");
        stream_close(s);
    }
    free(packed);
    ddsc_context_destroy(ctx);
}

static void test_missing(void **state)
{
    (void)state;
    test_folder f;
    folder_make(&f);
    ddsc_context *ctx = test_context(1, 0);
    ddsc_measures *m = NULL;
    ddsc_status status = ddsc_measures_read(ctx, &m, folder_file(&f, "none.npz"), NULL);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "missing", "none.npz|No such file");
    status = ddsc_measures_read(ctx, &m, f.path, NULL);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "folder", "contains no .png");
    char longest[900];
    memset(longest, 'p', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    status = ddsc_measures_read(ctx, &m, longest, NULL);
    assert_message(ctx, status, DDSC_ERROR_INPUT, "long path", "...ppp|cannot open");
    ddsc_context_destroy(ctx);
    folder_remove(&f);
}

/* ---- numbers ---- */

static void check_number(const char *text)
{
    double value;
    assert_true(number_parse(text, &value));
    double expected = strtod(text, NULL);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("%s was read as %.17g", text, value);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5e1",
                                       "1e22",
                                       "1e23",
                                       "1e-22",
                                       "1e-23",
                                       "0.1",
                                       "123456789",
                                       "9007199254740992",
                                       "9007199254740993",
                                       "1E+05",
                                       "4.9e-324",
                                       "1.7976931348623157e308",
                                       "2.2250738585072011e-308",
                                       "1e999",
                                       "1e-999",
                                       "0.000000000000000000000000000000000001",
                                       "123456789012345678901234567890",
                                       "1e-400",
                                       "0e999999999999"};
    static const char *const wrong[] = {"",   "-",  ".",   "e5",   "1e", "1e+", "1.2.3", "0x10",
                                        "1 ", " 1", "1,5", "nanx", "in", "--1", "1f",    "+-1"};
    double value;
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        check_number(good[k]);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (number_parse(wrong[k], &value))
            fail_msg("\"%s\" was taken for a number", wrong[k]);
    assert_true(number_parse("-inf", &value) && isinf(value) && value < 0);
    assert_true(number_parse("NaN", &value) && isnan(value));
}

/* Random doubles survive conversion to text, and text of random length is read as by the C library.
 * */
static void test_number_round_trip(void **state)
{
    (void)state;
    rng r = rng_make(9, RNG_SUBSET, 0);
    for (int k = 0; k < 200000; k++) {
        uint64_t bits = rng_u64(&r);
        double x, y;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        char text[64];
        number_format(text, x);
        assert_true(number_parse(text, &y));
        assert_memory_equal(&x, &y, sizeof x);
        snprintf(text, sizeof text, "%.*g", (int)(1 + bits % 20),
                 k % 2 ? x : rng_normal(&r) * 1000);
        check_number(text);
    }
}

static void test_integers(void **state)
{
    (void)state;
    int64_t v;
    assert_true(number_parse_integer("-9223372036854775808", &v) && v == INT64_MIN);
    assert_true(number_parse_integer("9223372036854775807", &v) && v == INT64_MAX);
    assert_false(number_parse_integer("9223372036854775808", &v));
    assert_false(number_parse_integer("-9223372036854775809", &v));
    assert_true(number_parse_integer("+007", &v) && v == 7);
    assert_false(number_parse_integer("1.0", &v));
    assert_false(number_parse_integer("", &v));
    assert_false(number_parse_integer("12a", &v));
}

/* A locale with a decimal comma has no effect. */
static void test_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    char text[NUMBER_TEXT];
    double x;
    number_format(text, 0.1);
    assert_null(strchr(text, ','));
    assert_true(number_parse("123456789012345678901234567890.5", &x));
    assert_close(x, 1.2345678901234568e29, 1e-15, 0);
    setlocale(LC_NUMERIC, "C");
}

/* ---- string tables ---- */

static void test_table(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    text_table t = {0};
    char text[32];
    int64_t number;
    bool is_new;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 5000; k++) {
            int n = snprintf(text, sizeof text, "name %d", k * 7);
            assert_ok(ctx, text_table_add(ctx, &t, text, (size_t)n, &number, &is_new), "add");
            assert_int_equal(number, k);
            assert_int_equal(is_new, pass == 0);
        }
    assert_int_equal(t.n, 5000);
    assert_string_equal(text_table_get(&t, 3), "name 21");
    assert_int_equal(text_table_find(&t, "name 22", 7), -1);
    text_table_free(ctx, &t);
    assert_int_equal(text_table_find(&t, "x", 1), -1);
    ddsc_context_destroy(ctx);
}

/* Every format is recognized by its first bytes. */
static void test_sniff(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        ddsc_format format;
    } cases[] = {
        {"PK\3\4", 4, DDSC_FORMAT_NPZ},         {"\x93NUMPY\1\0", 8, DDSC_FORMAT_NPY},
        {"id,x\n", 5, DDSC_FORMAT_CSV},         {"0\t3\t0.5\n", 8, DDSC_FORMAT_D2},
        {"\n 3\n4\n", 6, DDSC_FORMAT_D2},       {"1,2,3\n", 6, DDSC_FORMAT_CSV},
        {"\0\0\x08\x03", 4, DDSC_FORMAT_IDX},   {"FCS3.0      58", 14, DDSC_FORMAT_FCS},
        {"FCS3.0,x\n1,2", 12, DDSC_FORMAT_CSV}, {"%%MatrixMarket matrix", 21, DDSC_FORMAT_MTX},
        {"\x01\x02\x03", 3, DDSC_FORMAT_AUTO},  {"", 0, DDSC_FORMAT_AUTO},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_int_equal(io_sniff((const unsigned char *)cases[k].bytes, cases[k].n),
                         cases[k].format);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_members),
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_line_edges),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_missing),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_number_round_trip),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_locale),
        cmocka_unit_test(test_table),    cmocka_unit_test(test_sniff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
