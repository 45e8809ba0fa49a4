/* Splitting text into words: the three rules, scripts, and bytes that are not UTF-8. */
#include "folder_fixture.h"

#include "text/text.h"

/* ---- tokens ---- */

/* Returns the tokens of a text, each followed by "|". */
static void assert_tokens(token_reader t, const char *text, const char *wanted)
{
    ddsc_context *ctx = test_context(1, 0);
    char joined[512] = "";
    size_t n;
    assert_ok(ctx, token_reader_begin(ctx, &t, text), text);
    for (const char *w = token_reader_next(&t, &n); w; w = token_reader_next(&t, &n)) {
        strncat(joined, w, n);
        strcat(joined, "|");
    }
    assert_string_equal(joined, wanted);
    token_reader_free(ctx, &t);
    ddsc_context_destroy(ctx);
}

static void test_punctuation(void **state)
{
    (void)state;
    token_reader t = token_reader_make(DDSC_TOKENS_PUNCTUATION);
    assert_tokens(t, "", "");
    assert_tokens(t, " \t.-", "");
    assert_tokens(t, "Don't e-mail U.S. $1.13bn", "don't|e|mail|u|s|1|13bn|");
    assert_tokens(t, "a!b\"c#d$e%f&g(h)i*j+k,l-m.n/o:p;q<r=s>t?u@v[w\\x]y^z_0`1{2|3}4~5",
                  "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|0|1|2|3|4|5|");
    assert_tokens(t, "\xc3\x89T\xc3\x89\xc2\xa0\xc3\x97 \xe2\x80\x9cx\xe2\x80\x9d",
                  "\xc3\xa9t\xc3\xa9|\xc3\x97|\xe2\x80\x9cx\xe2\x80\x9d|");
}

static void test_letters(void **state)
{
    (void)state;
    token_reader t = token_reader_make(DDSC_TOKENS_LETTERS);
    assert_tokens(t, "Don't e-mail b2b x2yz", "don|mail|yz|");
    assert_tokens(t, "\xc3\x89 \xc3\x89t \xd0\x9c\xd0\xbe", "\xc3\xa9t|\xd0\xbc\xd0\xbe|");
}

/* The default rule: punctuation that belongs to a word is kept, and all other punctuation separates
 * words. */
static void test_words_with_punctuation(void **state)
{
    (void)state;
    token_reader t = token_reader_make(DDSC_TOKENS_WORDS);
    assert_tokens(t, "", "");
    assert_tokens(t, " \t.-+#&'/", "");
    assert_tokens(t, "C# and F#, C++ (g++). #tag C++11 a#b disney+ x+y",
                  "c#|and|f#|c++|g++|tag|c++|11|a|b|disney+|x|y|");
    assert_tokens(t, ".NET or ASP.NET/VB.net; node.js, Node.JS.",
                  ".net|or|asp.net|vb.net|node.js|node.js|");
    assert_tokens(t, "www.bbc.co.uk the end.Then System.Windows foo.example",
                  "www.bbc.co.uk|the|end|then|system|windows|foo|example|");
    assert_tokens(t, "the U.S. u.s U.S.-led e.g. J.K. Rowling",
                  "the|u.s.|u.s.|u.s.|led|e.g.|j.k.|rowling|");
    assert_tokens(t, "AT&T, R&amp;D black&white i/o and/or", "at&t|r&d|black|white|i/o|and|or|");
    assert_tokens(t, "e-mail x-ray long-term COVID-19 f-16 mid-2004 10-year 1-0",
                  "e-mail|x-ray|long|term|covid-19|f-16|mid|2004|10|year|1|0|");
    assert_tokens(t, "$1.13bn 1,000 12,345,678.90 1,2 100% 64bit 3.Then",
                  "1.13bn|1000|12345678.90|1|2|100|64bit|3|then|");
    assert_tokens(t, "Don't 'quoted' bank's banks' it's o'brien l'eau qu'il d'oro",
                  "don't|quoted|bank|banks|it|o'brien|l|eau|qu|il|d|oro|");
    assert_tokens(t, "&lt;b&gt; &quot;x&quot; caf&#233; caf&#xE9; &#0; &amp",
                  "b|x|caf\xc3\xa9|caf\xc3\xa9|0|amp|");
}

/* Characters outside ASCII in the default rule. */
static void test_words_of_scripts(void **state)
{
    (void)state;
    token_reader t = token_reader_make(DDSC_TOKENS_WORDS);
    /* quotation marks, dashes and typographic apostrophes; soft hyphen and ligature */
    assert_tokens(t, "\xe2\x80\x9cx\xe2\x80\x9d\xe2\x80\x94y don\xe2\x80\x99t bank\xe2\x80\x99s",
                  "x|y|don't|bank|");
    assert_tokens(t,
                  "in\xc2\xad"
                  "form \xef\xac\x81le e\xe2\x80\x91mail",
                  "inform|file|e-mail|");
    /* an accent as a separate character; capital and full-width letters */
    assert_tokens(t, "CAFE\xcc\x81 caf\xc3\xa9 \xd0\x98\xcc\x86 cafe q\xcc\x88",
                  "caf\xc3\xa9|caf\xc3\xa9|\xd0\xb9|cafe|q\xcc\x88|");
    assert_tokens(t, "\xef\xbc\xa3\xef\xbc\x83", "c#|");
    /* Chinese with Latin; a single character; Japanese with katakana; Korean; Thai; pictographs */
    assert_tokens(t,
                  "\xe6\x9c\xba\xe5\x99\xa8\xe5\xad\xa6"
                  "AI\xe3\x80\x82\xe4\xba\xba",
                  "\xe6\x9c\xba\xe5\x99\xa8|\xe5\x99\xa8\xe5\xad\xa6|ai|\xe4\xba\xba|");
    assert_tokens(t, "\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88\xe3\x81\xae",
                  "\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88|\xe3\x81\xae|");
    assert_tokens(t, "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4",
                  "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4|");
    assert_tokens(t, "\xe0\xb8\x81\xe0\xb8\x82\xe0\xb8\x83",
                  "\xe0\xb8\x81\xe0\xb8\x82|\xe0\xb8\x82\xe0\xb8\x83|");
    assert_tokens(t, "ok\xf0\x9f\x98\x80\xf0\x9f\x8f\xbd\xf0\x9f\x98\x80",
                  "ok|\xf0\x9f\x98\x80|\xf0\x9f\x98\x80|");
}

/* No input makes the result longer than its bound, and every byte string is accepted. */
static void test_words_of_any_bytes(void **state)
{
    (void)state;
    ddsc_context *ctx = test_context(1, 0);
    static const char *const parts[] = {"a",
                                        ".",
                                        "'",
                                        "&",
                                        "#",
                                        "-",
                                        "1",
                                        ",",
                                        "s",
                                        " ",
                                        "+",
                                        "/",
                                        "&#1;",
                                        "u.s",
                                        "\xff",
                                        "\xcc\x81",
                                        "\xe6\x9c\xba",
                                        "\xf0\xa0\x80\x80",
                                        "\xe0\xb8\x81",
                                        "\xef\xac\x84",
                                        "&#x20000;",
                                        "&#xff;",
                                        "\xf0\x9f\x98\x80",
                                        "\xc2\xad",
                                        "Q"};
    rng r = rng_make(7, RNG_GAUSSIANS, 0);
    token_reader t = token_reader_make(DDSC_TOKENS_WORDS);
    for (int round = 0; round < 4000; round++) {
        char text[128] = "";
        for (int64_t k = rng_below(&r, 13); k >= 0; k--)
            strcat(text, parts[rng_below(&r, sizeof parts / sizeof *parts)]);
        assert_ok(ctx, token_reader_begin(ctx, &t, text), text);
        assert_true(strlen(t.folded) <= 3 * strlen(text));
        size_t n;
        for (const char *w = token_reader_next(&t, &n); w; w = token_reader_next(&t, &n))
            assert_true(n > 0);
    }
    token_reader_free(ctx, &t);
    ddsc_context_destroy(ctx);
}

/* Bytes that are not UTF-8: truncated, overlong, surrogate, too large, stray; each is a Latin-1
 * letter. */
static void test_broken_utf8(void **state)
{
    (void)state;
    token_reader t = token_reader_make(DDSC_TOKENS_PUNCTUATION);
    assert_tokens(t, "x\xc3", "x\xc3\xa3|");
    assert_tokens(t, "\xe2\x82", "\xc3\xa2\xc2\x82|");
    assert_tokens(t, "\xc0\xaf", "\xc3\xa0\xc2\xaf|");
    assert_tokens(t, "\xe0\x81\x81", "\xc3\xa0\xc2\x81\xc2\x81|");
    assert_tokens(t, "\xed\xa0\x80", "\xc3\xad|\xc2\x80|"); /* 0xa0 is a space */
    assert_tokens(t, "\xf4\x90\x80\x80", "\xc3\xb4\xc2\x90\xc2\x80\xc2\x80|");
    assert_tokens(t, "\xff\xfe", "\xc3\xbf\xc3\xbe|");
    assert_tokens(t, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_punctuation),      cmocka_unit_test(test_letters),
        cmocka_unit_test(test_broken_utf8),      cmocka_unit_test(test_words_with_punctuation),
        cmocka_unit_test(test_words_of_scripts), cmocka_unit_test(test_words_of_any_bytes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
