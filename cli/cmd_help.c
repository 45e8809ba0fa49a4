/* ddsc help and ddsc completion: print texts generated from the option tables. */
#include <stdio.h>
#include <string.h>

#include "options.h"

static int run_help(session *s)
{
    text t = {0};
    int code = EXIT_GOOD;
    const char *name = s->opt.n_operands ? s->opt.operand[0] : NULL;
    const cli_verb *verb = name ? verb_find(name) : NULL;
    if (s->opt.man)
        help_man(&t);
    else if (!name)
        help_program(&t);
    else if (strcmp(name, "paper") == 0)
        help_paper(&t);
    else if (verb)
        help_verb(&t, verb);
    else if (strcmp(name, "metrics") == 0)
        help_metrics(&t);
    else
        code = message_usage(NULL, "unknown verb '%s'", name);
    fputs(text_get(&t), stdout);
    text_free(&t);
    return code;
}

static int run_completion(session *s)
{
    text t = {0};
    int code = EXIT_GOOD;
    if (completion_script(&t, s->opt.operand[0]))
        fputs(text_get(&t), stdout);
    else
        code = message_usage(s->verb, "'%s' is not supported; use bash, zsh or fish",
                             s->opt.operand[0]);
    text_free(&t);
    return code;
}

static const option_group *const help_groups[] = {&group_man, &group_help, NULL};
static const option_group *const completion_groups[] = {&group_help, NULL};

const cli_verb verb_help = {
    .name = "help",
    .operands = "[VERB | metrics | paper]",
    .operand_kind = OPERAND_WORD,
    .max_operands = 1,
    .summary = "print help for a verb or the metrics, or print the manual page",
    .description =
        "Prints the help of the program or of one verb, a list of the metrics, a comparison of the "
        "program with the paper (ddsc help paper), or the complete manual page.",
    .groups = help_groups,
    .run = run_help,
};

const cli_verb verb_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .operand_kind = OPERAND_WORD,
    .min_operands = 1,
    .max_operands = 1,
    .summary = "print a completion script for a shell",
    .description = "Prints a script that completes ddsc commands in the given shell.",
    .groups = completion_groups,
    .run = run_completion,
};
