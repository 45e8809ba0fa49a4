/* Detects formats by their content, never by the file name alone. HDF5 additionally requires a
 * matching name or an explicit request. */
#include "io/format/format.h"

#include <string.h>

static bool begins(const unsigned char *head, size_t n, const char *magic, size_t n_magic)
{
    return n >= n_magic && memcmp(head, magic, n_magic) == 0;
}

static bool is_idx(const unsigned char *head, size_t n)
{
    return n >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[2] <= 0x0e &&
           head[3] >= 1 && head[3] <= 8;
}

/* Recognizes PNG, JPEG, and Netpbm images (P2, P3, P5 or P6 followed by whitespace or #). */
static bool is_image(const unsigned char *head, size_t n)
{
    return begins(head, n, "\x89PNG", 4) || begins(head, n, "\xff\xd8\xff", 3) ||
           (n > 3 && head[0] == 'P' && head[1] && strchr("2356", head[1]) && head[2] &&
            strchr(" \t\r\n#", head[2]));
}

/* Returns true if the bytes contain no NUL and the first line contains only printable characters.
 * Later lines may contain quoted ids with any characters. */
static bool is_text(const unsigned char *head, size_t n)
{
    const unsigned char *end = memchr(head, '\n', n);
    size_t first = end ? (size_t)(end - head) : n;
    for (size_t i = 0; i < first; i++)
        if (head[i] < 0x20 && head[i] != '\r' && head[i] != '\t')
            return false;
    return !memchr(head, 0, n);
}

/* Returns true if the first nonblank line contains only numbers and whitespace. */
static bool is_numeric_line(const unsigned char *head, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", head[i]) && head[i])
        i++;
    if (i == n)
        return false;
    for (; i < n && head[i] != '\n'; i++)
        if (!head[i] || !strchr("0123456789+-.eE \t\r", head[i]))
            return false;
    return true;
}

cloud_kind io_sniff_cloud(const unsigned char *head, size_t n)
{
    size_t prefix = 0;
    if (begins(head, n, "ply\n", 4) || begins(head, n, "ply\r", 4))
        return CLOUD_PLY;
    if (begins(head, n, "# .PCD", 6) || begins(head, n, "VERSION 0.7", 11) ||
        begins(head, n, "VERSION .7", 10))
        return CLOUD_PCD;
    while (prefix < 3 && prefix < n && head[prefix] && strchr("STCN4", head[prefix]))
        prefix++;
    if (begins(head + prefix, n - prefix, "OFF", 3) && n > prefix + 3 && head[prefix + 3] &&
        strchr(" \r\n0123456789", head[prefix + 3]))
        return CLOUD_OFF;
    return CLOUD_NONE;
}

/* Returns the number of words in a line that ends at `end`, or -1 if a word does not begin like a
 * number. */
static int64_t count_numbers(const unsigned char *at, const unsigned char *end, const char *blanks)
{
    int64_t n = 0;
    while (at < end) {
        while (at < end && *at && strchr(blanks, *at))
            at++;
        if (at == end)
            break;
        if (!*at || !strchr("0123456789+-.", *at))
            return -1;
        n++;
        while (at < end && *at && !strchr(blanks, *at))
            at++;
    }
    return n;
}

/* If the extension is xyz, pts or txt, commas and semicolons also separate numbers. A single number
 * in the first line may be the number of points. */
bool io_sniff_rows(const unsigned char *head, size_t n, const char *path)
{
    bool sure = path && (files_has_ending(path, "xyz") || files_has_ending(path, "pts"));
    bool txt = path && files_has_ending(path, "txt");
    int64_t n_lines = 0, width = 0;
    const char *base = path ? strrchr(path, '/') : NULL;
    if (path && strstr(base ? base : path, ".d2"))
        return false;
    for (size_t at = 0; at < n;) {
        const unsigned char *end = memchr(head + at, '\n', n - at);
        size_t length = end ? (size_t)(end - head) - at : n - at;
        bool comment = head[at] == '#' || head[at] == '/';
        const char *blanks = sure || txt ? " \t\r,;" : " \t\r";
        int64_t count = comment ? 0 : count_numbers(head + at, head + at + length, blanks);
        bool cut = !end && n == STREAM_PEEK_MAX;
        at += length + 1;
        if (count < 0)
            return false;
        if (count == 0 || (cut && n_lines > 0))
            continue;
        if (sure)
            return true;
        if (n_lines++ == 0 || (n_lines == 2 && width == 1))
            width = count;
        if (count != width)
            return false;
    }
    return n_lines > 1 && width > 1;
}

ddsc_format io_sniff(const unsigned char *head, size_t n)
{
    if (begins(head, n, "PK\3\4", 4) || begins(head, n, "PK\5\6", 4))
        return DDSC_FORMAT_NPZ;
    if (begins(head, n, "\x93NUMPY", 6))
        return DDSC_FORMAT_NPY;
    if (begins(head, n, "FCS", 3) && n >= 10 && memcmp(head + 6, "    ", 4) == 0)
        return DDSC_FORMAT_FCS;
    if (begins(head, n, "%%MatrixMarket", 14))
        return DDSC_FORMAT_MTX;
    if (begins(head, n, "\x89HDF\r\n\x1a\n", 8))
        return DDSC_FORMAT_HDF5;
    if (is_idx(head, n))
        return DDSC_FORMAT_IDX;
    if (is_image(head, n))
        return DDSC_FORMAT_IMAGE;
    if (io_sniff_cloud(head, n) != CLOUD_NONE)
        return DDSC_FORMAT_CLOUD;
    if (n == 0 || !is_text(head, n))
        return DDSC_FORMAT_AUTO;
    return is_numeric_line(head, n) ? DDSC_FORMAT_D2 : DDSC_FORMAT_CSV;
}

/* Returns a description of a known but unsupported format ("bzip2-compressed"), or NULL for any
 * other content. */
static const char *io_sniff_foreign(const unsigned char *head, size_t n)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *what;
    } known[] = {
        {"\xfd"
         "7zXZ",
         5, "xz-compressed; decompress first (unxz)"},
        {"\x04\x22\x4d\x18", 4, "lz4-compressed; decompress first (unlz4)"},
        {"7z\xbc\xaf\x27\x1c", 6, "a 7-zip archive; unpack it first"},
        {"Rar!\x1a", 5, "a rar archive; unpack it first"},
        {"\x1f\x9d", 2, "compressed with compress; decompress first (uncompress)"},
        {"CDF\1", 4, "a netCDF file, which is not supported; convert it to npz"},
        {"CDF\2", 4, "a netCDF file, which is not supported; convert it to npz"},
        {"CDF\5", 4, "a netCDF file, which is not supported; convert it to npz"},
        {"MATLAB 5.0 MAT-file", 19, "a MATLAB file, which is not supported; convert it to npz"},
        {"PAR1\x15", 5,
         "a Parquet file; read it in Python: "
         "ddsc.Distributions.from_frame(pandas.read_parquet(...), groupby=...)"},
        {"%PDF-", 5, "a PDF document"},
        {"\x80\x04", 2, "a Python pickle, which is not supported; save it as npz"},
        {"\x80\x05", 2, "a Python pickle, which is not supported; save it as npz"},
        {"\xff\xfe", 2, "UTF-16 text; convert it to UTF-8 first"},
        {"\xfe\xff", 2, "UTF-16 text; convert it to UTF-8 first"},
    };
    if (begins(head, n, "BZh", 3) && n >= 10 &&
        (memcmp(head + 4, "1AY&SY", 6) == 0 ||
         memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
        return "bzip2-compressed; decompress first (bunzip2)";
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (begins(head, n, known[k].magic, known[k].n))
            return known[k].what;
    return NULL;
}

ddsc_status io_check_hdf5(io_stream *s, ddsc_format found, ddsc_format asked)
{
    static const char *const endings[] = {"h5ad", "h5", "hdf5"};
    const char *path = stream_path(s);
    if (asked == DDSC_FORMAT_HDF5 && found != DDSC_FORMAT_HDF5)
        return stream_fail(s, "is not an HDF5 file, which --format h5ad requires");
    if (asked == DDSC_FORMAT_HDF5 || found != DDSC_FORMAT_HDF5)
        return DDSC_OK;
    for (size_t k = 0; path && k < sizeof endings / sizeof *endings; k++)
        if (files_has_ending(path, endings[k]))
            return DDSC_OK;
    return stream_fail(s,
                       "contains HDF5 data, %s; HDF5 is read only if the name ends in .h5ad, .h5 "
                       "or .hdf5, or with --format h5ad",
                       path ? "but its name does not have an HDF5 extension" : "but has no name");
}

ddsc_status io_peek_content(io_stream *s, unsigned char head[STREAM_PEEK_MAX], size_t *n)
{
    CHECK(stream_peek(s, head, STREAM_PEEK_MAX, n));
    const char *foreign = io_sniff_foreign(head, *n);
    return foreign ? stream_fail(s, "is %s", foreign) : DDSC_OK;
}
