/* ddsc report: renders the page and the figures of a result written by `cluster -o DIR`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "over.h"
#include "pictures.h"

static bool file_has(const char *path, const text *t)
{
    FILE *file = fopen(path, "rb");
    bool same = file != NULL;
    for (size_t at = 0; same && at < t->length;) {
        char bytes[4096];
        size_t n = t->length - at < sizeof bytes ? t->length - at : sizeof bytes;
        same = fread(bytes, 1, n, file) == n && memcmp(bytes, t->bytes + at, n) == 0;
        at += n;
    }
    same = same && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}

static bool write_page(session *s, const ddsc_report *report, const char *path, int *code)
{
    text t = {0};
    bool good =
        session_ok(s, ddsc_report_write(s->ctx, report, DDSC_REPORT_HTML, text_write, &t), code) &&
        ((!output_is_stdout(path) && file_has(path, &t)) ||
         (output_check_file(s, path, code) && output_text(s, &t, path, false, code)));
    text_free(&t);
    if (good && !s->opt.quiet && !output_is_stdout(path))
        output_name("report", path);
    return good;
}

enum { MAX_PICTURES = 16 };

/* Figures are rendered while the library draws them and are written at the end. */
typedef struct gallery {
    picture_format format;
    int n;
    struct {
        text name, bytes;
        const char *why; /* reason why rendering failed, or NULL */
    } picture[MAX_PICTURES];
} gallery;

static int hang(void *user, const char *name, double width, double height, int64_t n_marks,
                const ddsc_mark *marks)
{
    static const char *const endings[] = {"png", "svg", "pdf"};
    gallery *g = user;
    picture p = {width, height, n_marks, marks};
    const char *why;
    text_addf(&g->picture[g->n].name, "%s.%s", name, endings[g->format]);
    if (!picture_render(&g->picture[g->n].bytes, &p, g->format, &why))
        g->picture[g->n].why = why;
    return ++g->n == MAX_PICTURES;
}

static bool write_picture(session *s, const gallery *g, int p, const char *dir, int *code)
{
    char *path = output_path(dir, text_get(&g->picture[p].name));
    bool good = output_check_file(s, path, code);
    if (good && g->picture[p].why) {
        message_error("%s: %s", path, g->picture[p].why);
        *code = EXIT_INTERNAL;
        good = false;
    }
    good = good && output_text(s, &g->picture[p].bytes, path, false, code);
    if (good && !s->opt.quiet)
        output_name("picture", path);
    free(path);
    return good;
}

static bool write_pictures(session *s, const ddsc_report *report, const char *dir, int *code)
{
    gallery g = {.format = (picture_format)(s->opt.plots - 1)};
    bool good = output_make_dir(dir, code) &&
                session_ok(s, ddsc_report_draw(s->ctx, report, hang, &g), code);
    for (int p = 0; good && p < g.n; p++)
        good = write_picture(s, &g, p, dir, code);
    for (int p = 0; p < g.n; p++) {
        text_free(&g.picture[p].name);
        text_free(&g.picture[p].bytes);
    }
    return good;
}

static int run(session *s)
{
    int code = EXIT_GOOD;
    ddsc_report *report = NULL;
    const char *dir = s->opt.operand[0];
    char *page = output_path(dir, "report.html");
    const char *path = s->opt.output ? s->opt.output : page;
    if (s->opt.plots && s->opt.output && output_is_stdout(s->opt.output))
        code = message_usage(s->verb, "--plots writes several files, so -o must name a folder");
    else if (!s->opt.plots && !output_is_stdout(path) && !input_is_not(s, path, &code))
        ;
    else if (!session_ok(s, ddsc_report_read(s->ctx, &report, dir), &code))
        ;
    else if (!over_add(s, report, &code))
        ;
    else if (s->opt.plots)
        write_pictures(s, report, s->opt.output ? s->opt.output : dir, &code);
    else
        write_page(s, report, path, &code);
    ddsc_report_destroy(report);
    free(page);
    return code;
}

static const option_group *const groups[] = {
    &group_over, &group_over_meta, &group_plots, &group_page_output, &group_run, &group_help, NULL};

const cli_verb verb_report = {
    .name = "report",
    .operands = "DIR",
    .operand_kind = OPERAND_RESULT,
    .min_operands = 1,
    .max_operands = 1,
    .summary = "render the report page or its figures from an earlier result",
    .description = "Renders report.html again from a folder written by `ddsc cluster -o DIR`. With "
                   "--plots, each figure of the report is written as a file instead (map, "
                   "representatives, means of planar items, eigenvalues, sizes, neighbors, "
                   "confusion, over). The page is a single file that works offline.",
    .groups = groups,
    .examples = "ddsc report result -o page.html\twrites the page to another file\n"
                "ddsc report result --plots pdf -o figures\tfigures for a paper\n",
    .run = run,
};
