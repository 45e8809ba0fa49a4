/* Converts single-byte encodings to UTF-8. Windows-1252 follows the WHATWG Encoding Standard: the
 * five unassigned bytes are control characters. */
#include "base/text.h"

/* Code points of the bytes 0x80 to 0x9f in Windows-1252. */
static const uint16_t cp1252[32] = {0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f,
                                    0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

size_t text_convert(char *out, const char *text, size_t n, ddsc_encoding encoding)
{
    char *to = out;
    for (size_t k = 0; k < n; k++) {
        unsigned c = (unsigned char)text[k];
        if (encoding == DDSC_ENCODING_CP1252 && c >= 0x80 && c < 0xa0)
            c = cp1252[c - 0x80];
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        } else {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}
