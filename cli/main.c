/* The main program: finds the verb, parses its arguments and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options.h"

const cli_verb *const cli_verbs[] = {
    &verb_cluster,  &verb_distance, &verb_neighbors, &verb_embed,      &verb_text,   &verb_convert,
    &verb_generate, &verb_score,    &verb_compare,   &verb_assign,     &verb_update, &verb_report,
    &verb_explain,  &verb_name,     &verb_diff,      &verb_order,      &verb_test,   &verb_states,
    &verb_info,     &verb_demo,     &verb_help,      &verb_completion, NULL};

const cli_verb *verb_find(const char *name)
{
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

static int unknown_verb(const char *word)
{
    const char *names[32];
    size_t n = 0;
    for (const cli_verb *const *v = cli_verbs; *v && n < 32; v++)
        if (!(*v)->hidden)
            names[n++] = (*v)->name;
    const char *near = suggest(word, names, n);
    const char *what = word[0] == '-' ? "option" : "verb";
    return message_usage(NULL, "unknown %s '%s'%s%s%s", what, word, near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
}

static int print(void (*make)(text *t))
{
    text t = {0};
    make(&t);
    fputs(text_get(&t), stdout);
    text_free(&t);
    return EXIT_GOOD;
}

/* Returns true if all ranks run the verb. Ranks share only long computations; the first rank does
 * all other work alone. */
static bool is_shared(const session *s)
{
    return s->team && s->verb->shared && !s->opt.help && !s->opt.dry_run;
}

static int run_parsed(session *s)
{
    int code = EXIT_GOOD;
    if (s->team && !is_shared(s)) {
        if (s->team->ranks.rank > 0)
            return EXIT_GOOD;
        s->team = NULL;
        message_release();
    }
    if (s->opt.help) {
        text t = {0};
        help_verb(&t, s->verb);
        fputs(text_get(&t), stdout);
        text_free(&t);
        return EXIT_GOOD;
    }
    const char *contradiction = s->opt.cluster.paper ? paper_replaced_option(&s->opt) : NULL;
    if (contradiction)
        return message_usage(s->verb, "%s contradicts --paper; remove one of them", contradiction);
    if (!session_open(s))
        return EXIT_MEMORY;
    if (input_is_not_resumed(s, &code))
        code = s->verb->run(s);
    session_close(s);
    return code;
}

static int run_verb(const cli_verb *verb, int n_words, char **words, const cli_team *team)
{
    cli_options given;
    int code;
    options_init(&given);
    if (options_parse(&given, verb, n_words, words, &code)) {
        session s = {.verb = verb, .team = team, .opt = given};
        code = run_parsed(&s);
        team = s.team;
    }
    if (team && code != EXIT_GOOD) /* the error occurred before the ranks synchronized */
        code = team->meet(team, code);
    message_release();
    options_free(&given);
    return code;
}

static int version(void)
{
#ifdef DDSC_HAVE_CAIRO
    const char *cairo = " cairo";
#else
    const char *cairo = "";
#endif
    device_words device = device_look();
    printf("ddsc %s\nfeatures: %s jansson%s\ndevice: %s%s\n", ddsc_version(), ddsc_features(),
           cairo, device.there ? "cuda, " : "cpu", device.there ? device.about : "");
    return EXIT_GOOD;
}

/* Handles a first argument that is not a verb. */
static int run_word(int argc, char **argv)
{
    if (argc < 2) {
        text t = {0};
        help_program(&t);
        fputs(text_get(&t), stderr);
        text_free(&t);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print(help_program);
    return unknown_verb(argv[1]);
}

int cli_main(int argc, char **argv, const cli_team *team)
{
    const cli_verb *verb = argc < 2 ? NULL : verb_find(argv[1]);
    if (team && verb)
        message_hold(
            false); /* errors common to all ranks are deferred until the ranks synchronize */
    if (team && team->ranks.rank > 0) {
        message_hold(true);
        if (!verb)
            return EXIT_GOOD;
        if (!freopen("/dev/null", "w", stdout))
            return team->meet(team, EXIT_INTERNAL);
    }
    int code = verb ? run_verb(verb, argc - 2, argv + 2, team) : run_word(argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        message_error("standard output cannot be written%s%s", errno ? ": " : "",
                      errno ? strerror(errno) : "");
        return EXIT_OUTPUT;
    }
    return code;
}
