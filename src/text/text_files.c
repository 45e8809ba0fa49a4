/* Reads documents from plain text files, one document per file, and from folders. The file name
 * is the id, and the name of the subfolder is the class. */
#include <string.h>

#include "text/text.h"

enum { DOCUMENT_MAX_BYTES = 1 << 28 };

ddsc_status documents_list(ddsc_context *ctx, file_list *list, int64_t n_paths,
                           const char *const *paths)
{
    static const char *const txt[] = {"txt", NULL};
    static const char *const *const kinds[] = {txt, NULL};
    for (int64_t i = 0; i < n_paths; i++)
        CHECK(files_add(ctx, list, paths[i], kinds));
    return DDSC_OK;
}

ddsc_status documents_read_plain(ddsc_context *ctx, io_stream *s, char **text, int64_t *capacity)
{
    unsigned char head[STREAM_PEEK_MAX];
    size_t n;
    int64_t length;
    CHECK(io_peek_content(s, head, &n));
    CHECK(files_read_whole(ctx, s, text, capacity, &length, DOCUMENT_MAX_BYTES, "one document"));
    if (memchr(*text, 0, (size_t)length))
        return stream_fail(s, "contains a zero byte; expected a text file");
    char *whole = *text;
    size_t n_bytes = (size_t)length;
    CHECK(stream_make_utf8(s, &whole, &n_bytes));
    if (whole == *text)
        return DDSC_OK;
    CHECK(MEM_RESERVE(ctx, *text, capacity, (int64_t)n_bytes + 1));
    memcpy(*text, whole, n_bytes + 1);
    return DDSC_OK;
}
