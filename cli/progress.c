#include "progress.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_CELLS = 24, STAGE_LENGTH = 32 };
/* The first line is delayed, so that short computations add no lines to log files. */
static const double FIRST_LINE_S = 2, NEXT_LINE_S = 5, REDRAW_S = 0.1;

typedef enum style { STYLE_NONE, STYLE_BAR, STYLE_LINES, STYLE_JSONL } style;

struct progress {
    style style;
    char stage[STAGE_LENGTH];
    double stage_began, last_shown;
    int64_t last_done;
};

/* True if a progress bar is on the terminal, which messages must clear first. */
static bool bar_shown;

progress *progress_create(cli_progress how, bool quiet)
{
    progress *p = cli_allocate(1, sizeof *p);
    bool terminal = isatty(STDERR_FILENO);
    if (how == PROGRESS_JSONL)
        p->style = STYLE_JSONL;
    else if (how == PROGRESS_NONE || quiet)
        p->style = STYLE_NONE;
    else
        p->style = how == PROGRESS_BAR || terminal ? STYLE_BAR : STYLE_LINES;
    return p;
}

void progress_clear(void)
{
    if (bar_shown)
        fputs("\r\033[K", stderr);
    bar_shown = false;
}

void progress_destroy(progress *p)
{
    progress_clear();
    free(p);
}

/* Adds a time such as "0:07", "12:40" or "3:05:00". */
static void add_clock(text *t, double seconds)
{
    int64_t s = (int64_t)(seconds + 0.5);
    if (s >= 3600)
        text_addf(t, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        text_addf(t, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* Adds a line of progress such as "43% 1,234 of 5,000 310/s 0:12 left". */
static void add_state(text *t, int64_t done, int64_t total, double seconds)
{
    double rate = seconds > 0 ? (double)done / seconds : 0;
    if (total > 0)
        text_addf(t, "%3.0f%%  ", 100 * (double)done / (double)total);
    text_add_count(t, done);
    if (total > 0) {
        text_add(t, " of ");
        text_add_count(t, total);
    }
    if (done == 0 && seconds > 1) {
        text_add(t, "  ");
        add_clock(t, seconds);
        text_add(t, " so far");
    }
    if (rate > 0 && seconds > 0.5) {
        text_add(t, "  ");
        text_add_count(t, (int64_t)(rate + 0.5));
        text_add(t, "/s");
        if (total > done) {
            text_add(t, "  ");
            add_clock(t, (double)(total - done) / rate);
            text_add(t, " left");
        }
    }
}

static void show_bar(const progress *p, int64_t done, int64_t total, double seconds)
{
    text t = {0};
    text_addf(&t, "\r\033[K%-12s ", p->stage);
    if (total > 0) {
        int cells = (int)(BAR_CELLS * (double)done / (double)total);
        for (int i = 0; i < BAR_CELLS; i++)
            text_add(&t, i == 0 ? (cells ? "[#" : "[-") : i < cells ? "#" : "-");
        text_add(&t, "] ");
    }
    add_state(&t, done, total, seconds);
    fputs(text_get(&t), stderr);
    text_free(&t);
    bar_shown = true;
}

static void show_line(const progress *p, int64_t done, int64_t total, double seconds)
{
    text t = {0};
    text_addf(&t, "ddsc: %s: ", p->stage);
    add_state(&t, done, total, seconds);
    fprintf(stderr, "%s\n", text_get(&t));
    text_free(&t);
}

/* Stage names come from the library and contain no characters that JSON must escape. */
static void show_json(const progress *p, int64_t done, int64_t total, double seconds)
{
    fprintf(stderr,
            "{\"stage\":\"%s\",\"done\":%" PRId64 ",\"total\":%" PRId64 ",\"seconds\":%.3f}\n",
            p->stage, done, total, seconds);
}

/* Returns true if an update is due. The end of a stage is always shown on a bar and reported to
 * programs, but log lines appear only at intervals. */
static bool due(const progress *p, double now, int64_t done, int64_t total)
{
    bool end = total > 0 && done >= total && p->last_done != done;
    double since = now - p->last_shown, age = now - p->stage_began;
    switch (p->style) {
    case STYLE_NONE: return false;
    case STYLE_BAR: return end || since >= REDRAW_S;
    case STYLE_JSONL: return end || since >= REDRAW_S;
    case STYLE_LINES: return age >= FIRST_LINE_S && since >= NEXT_LINE_S;
    }
    return false;
}

bool progress_watched(const progress *p)
{
    return p->style == STYLE_BAR || p->style == STYLE_JSONL;
}

void progress_estimate(const progress *p, const char *words, double low, double high, double bytes,
                       bool could_resume)
{
    progress_clear();
    if (p->style == STYLE_JSONL)
        fprintf(stderr,
                "{\"stage\":\"estimate\",\"done\":0,\"total\":0,\"seconds\":0,"
                "\"estimated_seconds\":%.1f,\"estimated_low\":%.1f,\"estimated_high\":%.1f,"
                "\"estimated_bytes\":%.0f}\n",
                sqrt(low * high), low, high, bytes);
    else
        fprintf(stderr, "ddsc: estimated cost: %s%s\n", words,
                could_resume ? "; use --resume DIR so that the run can be stopped and resumed"
                             : "");
}

void progress_event(void *user, const char *stage, int64_t done, int64_t total)
{
    progress *p = user;
    double now = cli_now();
    if (p->style == STYLE_NONE)
        return;
    if (strncmp(p->stage, stage, STAGE_LENGTH - 1) != 0) {
        progress_clear();
        snprintf(p->stage, sizeof p->stage, "%s", stage);
        p->stage_began = now;
        p->last_shown = p->style == STYLE_LINES ? now - NEXT_LINE_S : now - 2 * REDRAW_S;
        p->last_done = -1;
    }
    if (!due(p, now, done, total))
        return;
    double seconds = now - p->stage_began;
    p->last_shown = now;
    p->last_done = done;
    if (p->style == STYLE_BAR)
        show_bar(p, done, total, seconds);
    else if (p->style == STYLE_LINES)
        show_line(p, done, total, seconds);
    else
        show_json(p, done, total, seconds);
}
