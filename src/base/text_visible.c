/* Makes text safe for a terminal. Control characters can move the cursor or change the state of the
 * terminal, and direction marks can make a line misleading. Both are shown as escape sequences. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Returns true for characters that are printed unchanged, which include line ends and tabs. U+0080
 * to U+009F are control characters; the other characters excluded here change the text direction or
 * end a line. */
static bool is_harmless(int64_t c)
{
    if (c < 0x20 || c == 0x7f)
        return c == '\n' || c == '\t';
    return !((c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
             (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069));
}

size_t text_visible(char *out, size_t size, const char *text, size_t n_bytes)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + n_bytes;
    size_t used = 0, copied = 0;
    while (at < end) {
        const unsigned char *from = at;
        size_t need = *at < 0xc2 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
        int64_t c = (size_t)(end - at) >= need ? text_next_char(&at) : -1;
        char shown[8];
        size_t n = (size_t)(at - from);
        if (c < 0 || !is_harmless(c)) {
            at = c < 0 ? from + 1 : at;
            n = (size_t)snprintf(shown, sizeof shown, c > 0xff ? "\\u%04x" : "\\x%02x",
                                 c < 0 ? *from : (unsigned)c);
        } else {
            memcpy(shown, from, n);
        }
        if (out && used == copied && used + n < size) { /* never truncates within a character */
            memcpy(out + used, shown, n);
            copied += n;
        }
        used += n;
    }
    if (out && size > 0)
        out[copied] = '\0';
    return used;
}

size_t ddsc_text_visible(char *out, size_t size, const char *text, size_t n_bytes)
{
    return text ? text_visible(out, size, text, n_bytes) : 0;
}
