/* Prints messages on standard error, and suggests corrections for mistyped words. */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

bool message_colors(int descriptor)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(descriptor) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

static bool holding;        /* suppress all messages */
static bool holding_errors; /* true if errors are deferred until message_release */
static text held;

void message_hold(bool all)
{
    holding = all;
    holding_errors = true;
}

void message_release(void)
{
    if (!holding && holding_errors && held.length > 0)
        fprintf(stderr, "ddsc: %s\n", text_get(&held));
    holding_errors = holding;
}

const char *message_held(void)
{
    return text_get(&held);
}

/* Prints "ddsc: [kind: ]text", with a colored prefix on a terminal. */
static void say(const char *color, const char *kind, const char *format, va_list arguments)
{
    bool colors = message_colors(STDERR_FILENO);
    progress_clear();
    text words = {0}, t = {0};
    text_addv(&words, format, arguments);
    if (holding || (holding_errors && !*kind)) {
        if (!*kind && held.length == 0)
            text_add_shown(&held, text_get(&words), words.length, stderr);
        text_free(&words);
        return;
    }
    text_addf(&t, "%sddsc: %s%s", colors ? color : "", kind, colors ? "\033[0m" : "");
    text_add_shown(&t, text_get(&words), words.length, stderr);
    fprintf(stderr, "%s\n", text_get(&t));
    text_free(&words);
    text_free(&t);
}

void message_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("\033[1;31m", "", format, arguments);
    va_end(arguments);
}

void message_warning(const session *s, const char *format, ...)
{
    if (s->opt.quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    say("\033[1;33m", "warning: ", format, arguments);
    va_end(arguments);
}

void message_pairs(const session *s, const ddsc_pair_stats *stats)
{
    bool entropic = s->set.metric.metric == DDSC_METRIC_SINKHORN;
    if (stats->n_not_converged)
        message_warning(s, "%" PRId64 " pairs %s", stats->n_not_converged,
                        entropic ? "did not converge; increase --max-iterations or --epsilon"
                                 : "are not certified to 1e-10; their exact values are between the "
                                   "reported lower and upper bounds");
}

void message_note(const session *s, const char *head, const char *words)
{
    bool colors = message_colors(STDERR_FILENO);
    text shown = {0};
    if (s->opt.quiet || holding)
        return;
    progress_clear();
    text_add_shown(&shown, words, strlen(words), stderr);
    fprintf(stderr, "%sddsc: %s%s%s\n", colors ? "\033[1;36m" : "", head, colors ? "\033[0m" : "",
            text_get(&shown));
    text_free(&shown);
}

void message_path(const plan_line *line)
{
    if (holding)
        return;
    progress_clear();
    fprintf(stderr, "ddsc: %s: %s (%s)\n", line->stage, line->path, line->why);
}

void message_advice(const session *s, const char *words)
{
    while (*words) {
        text note = {0};
        size_t n = strcspn(words, "\n");
        text_add_bytes(&note, words, n);
        message_note(s, "advice: ", text_get(&note));
        text_free(&note);
        words += n + (words[n] == '\n');
    }
}

int message_usage(const cli_verb *verb, const char *format, ...)
{
    va_list arguments;
    message_release(); /* the message is the same on all ranks, so only the first rank prints it */
    va_start(arguments, format);
    say("\033[1;31m", "", format, arguments);
    va_end(arguments);
    if (!holding)
        fprintf(stderr, "Try 'ddsc %s%s--help'.\n", verb ? verb->name : "", verb ? " " : "");
    return EXIT_USAGE;
}

/* Returns the number of edits (insertion, deletion, replacement, swap of adjacent letters) that
 * turn a into b. Words may have at most 63 letters. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][64];
    size_t n = strlen(a), m = strlen(b);
    if (n > 63 || m > 63)
        return 64;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *suggest(const char *word, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t length = strlen(word);
    int allowed = length <= 3 ? 1 : length <= 6 ? 2 : 3, least = allowed + 1;
    for (size_t i = 0; i < n; i++) {
        int distance = edit_distance(word, candidates[i]);
        bool begins = length >= 3 && strncmp(word, candidates[i], length) == 0;
        if (begins && distance > 1)
            distance = 1;
        if (distance < least) {
            least = distance;
            best = candidates[i];
        }
    }
    return best;
}
