/* Reads ply files (Turk 1994). The header lists elements and their properties. The values follow as
 * text, or as bytes in either byte order. The vertices are the points. Elements before the vertices
 * are skipped, and elements after the vertices are not read. */
#include "io/format/cloud.h"

#include <string.h>

typedef struct ply {
    cloud *c;
    bool text, swap;
    int64_t n_before; /* number of element rows before the vertices */
    int64_t n_vertices;
} ply;

static bool scalar_type(const char *name, bool swap, num_type *type)
{
    static const struct {
        const char *name, *other;
        num_type type;
    } known[] = {{"char", "int8", {'i', 1, false}},     {"uchar", "uint8", {'u', 1, false}},
                 {"short", "int16", {'i', 2, false}},   {"ushort", "uint16", {'u', 2, false}},
                 {"int", "int32", {'i', 4, false}},     {"uint", "uint32", {'u', 4, false}},
                 {"float", "float32", {'f', 4, false}}, {"double", "float64", {'f', 8, false}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k].name) == 0 || strcmp(name, known[k].other) == 0) {
            *type = known[k].type;
            type->swap = swap;
            return true;
        }
    return false;
}

/* ---- values ---- */

static ddsc_status ply_number(ply *p, num_type type, double *value)
{
    unsigned char bytes[8];
    if (p->text)
        return cloud_next_number(p->c, value);
    CHECK(stream_read_exact(p->c->s, bytes, (size_t)type.width, "the vertices"));
    numbers_to_double(value, bytes, 1, type);
    return DDSC_OK;
}

static ddsc_status ply_row(ply *p)
{
    cloud *c = p->c;
    for (int64_t k = 0; k < c->n_fields; k++) {
        const cloud_field *f = &c->field[k];
        double n, passed;
        if (!f->list) {
            CHECK(ply_number(p, f->type, &c->value[k]));
            continue;
        }
        CHECK(ply_number(p, f->counter, &n));
        if (!(n >= 0 && n < 1e9))
            return stream_fail(c->s, "has a list of %g values, which is not a valid length", n);
        for (int64_t i = 0; i < (int64_t)n; i++)
            CHECK(ply_number(p, f->type, &passed));
    }
    return DDSC_OK;
}

/* ---- header ---- */

static ddsc_status ply_property(ply *p, char *const *word, int n)
{
    cloud *c = p->c;
    num_type type, counter = {0};
    bool list = n == 5 && strcmp(word[1], "list") == 0;
    if ((n != 3 && !list) || !scalar_type(word[n - 2], p->swap, &type) ||
        (list && !scalar_type(word[2], p->swap, &counter)))
        return stream_fail_line(c->s, ": \"%s\" is not a valid ply property",
                                n > 1 ? QUOTE(word[1]) : "");
    CHECK(cloud_add_field(c, word[n - 1], type));
    c->field[c->n_fields - 1].list = list;
    c->field[c->n_fields - 1].counter = counter;
    return DDSC_OK;
}

static ddsc_status ply_format(ply *p, const char *name)
{
    p->text = strcmp(name, "ascii") == 0;
    bool little = strcmp(name, "binary_little_endian") == 0;
    if (!p->text && !little && strcmp(name, "binary_big_endian") != 0)
        return stream_fail_line(p->c->s, ": unknown format \"%s\"", QUOTE(name));
    p->swap = little != NUM_HOST_LITTLE;
    return DDSC_OK;
}

enum { WORDS = 8, ELEMENTS = 16 };

static int cut_words(char *line, char **word)
{
    int n = 0;
    char *save = NULL;
    for (char *at = strtok_r(line, " \t\r", &save); at && n < WORDS;
         at = strtok_r(NULL, " \t\r", &save))
        word[n++] = at;
    return n;
}

/* The rows of one element, and the index of its first property. */
typedef struct element {
    int64_t rows, first;
    bool vertex;
} element;

static ddsc_status ply_header(ply *p, element *e, int *n_elements)
{
    for (;;) {
        char *line, *word[WORDS];
        size_t length;
        CHECK(stream_line(p->c->s, &line, &length));
        if (!line)
            return stream_fail(p->c->s, "ends early: its ply header has no end_header line");
        int n = cut_words(line, word);
        if (n == 0 || strcmp(word[0], "comment") == 0 || strcmp(word[0], "obj_info") == 0 ||
            strcmp(word[0], "ply") == 0)
            continue;
        if (strcmp(word[0], "end_header") == 0)
            return DDSC_OK;
        if (strcmp(word[0], "format") == 0 && n >= 2) {
            if (p->c->n_fields > 0) /* its properties have already determined the byte order */
                return stream_fail_line(p->c->s, ": the format line must precede the properties");
            CHECK(ply_format(p, word[1]));
        } else if (strcmp(word[0], "element") == 0 && n == 3) {
            element *next = &e[*n_elements];
            if (++*n_elements == ELEMENTS || !number_parse_integer(word[2], &next->rows) ||
                next->rows < 0)
                return stream_fail_line(
                    p->c->s, ": too many elements, or \"%s\" is not a valid number of rows",
                    QUOTE(word[2]));
            next->first = p->c->first_field = p->c->n_fields;
            next->vertex = strcmp(word[1], "vertex") == 0;
        } else if (strcmp(word[0], "property") == 0 && *n_elements > 0) {
            CHECK(ply_property(p, word, n));
        } else {
            return stream_fail_line(p->c->s, ": unexpected keyword \"%s\" in a ply header",
                                    QUOTE(word[0]));
        }
    }
}

/* Reads the rows of one element. During the call, the cloud contains only the fields of this
 * element. */
static ddsc_status ply_element(ply *p, const element *e, int64_t end)
{
    cloud *c = p->c, whole = *c;
    if (end == e->first)
        return stream_fail(c->s, "has an element without properties");
    c->field += e->first;
    c->n_fields = end - e->first;
    ddsc_status status =
        e->vertex ? cloud_choose(c, false) : MEM_ZERO(c->ctx, c->value, c->n_fields);
    for (int64_t i = 0; i < e->rows && status >= 0; i++) {
        status = ply_row(p);
        if (status >= 0 && e->vertex)
            status = cloud_put_row(c);
    }
    if (!e->vertex) {
        mem_free(c->ctx, c->value);
        c->value = NULL;
    }
    c->field = whole.field;
    c->n_fields = whole.n_fields;
    return status;
}

ddsc_status cloud_read_ply(cloud *c)
{
    ply p = {.c = c, .text = true};
    element e[ELEMENTS] = {{0}};
    int n = 0;
    CHECK(ply_header(&p, e, &n));
    for (int k = 0; k < n; k++) {
        CHECK(ply_element(&p, &e[k], k + 1 < n ? e[k + 1].first : c->n_fields));
        if (e[k].vertex)
            return DDSC_OK;
    }
    return stream_fail(c->s, "is a ply file without vertices");
}
