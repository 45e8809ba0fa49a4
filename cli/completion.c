/* Generates completion scripts for bash, zsh and fish from the option tables. */
#include "options.h"

#include <string.h>

static bool takes_file(const option_spec *s)
{
    return s->kind == OPTION_FILE ||
           (s->argument && (strstr(s->argument, "FILE") || strstr(s->argument, "TABLE")));
}

/* Adds every option whose values can be completed. An option that several verbs share is added
 * once. */
static void add_bash_values(text *t)
{
    text seen = {0};
    text_add(&seen, "|");
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        for (const option_group *const *g = (*v)->groups; *g; g++)
            for (const option_spec *s = (*g)->options; s->name; s++) {
                text words = {0}, key = {0};
                option_words(&words, s);
                text_addf(&key, "|%s|", s->name);
                if (words.length && !strstr(text_get(&seen), text_get(&key))) {
                    text_addf(&seen, "%s|", s->name);
                    text_addf(t, "        --%s", s->name);
                    if (s->letter)
                        text_addf(t, "|-%c", s->letter);
                    text_addf(t, ") words=\"%s\" ;;\n", text_get(&words));
                }
                text_free(&words);
                text_free(&key);
            }
    text_free(&seen);
}

static void add_bash_verb(text *t, const cli_verb *verb)
{
    text_addf(t, "        %s) words=\"", verb->name);
    if (verb == &verb_generate)
        text_add(t, "shapes gaussians ");
    if (verb == &verb_completion)
        text_add(t, "bash zsh fish ");
    for (const option_group *const *g = verb->groups; *g; g++)
        for (const option_spec *s = (*g)->options; s->name; s++) {
            if (s->letter)
                text_addf(t, "-%c ", s->letter);
            text_addf(t, "--%s ", s->name);
        }
    t->length--;
    text_add(t, "\" ;;\n");
}

static void add_verb_names(text *t)
{
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (!(*v)->hidden)
            text_addf(t, "%s%s", v == cli_verbs ? "" : " ", (*v)->name);
}

static void bash_script(text *t)
{
    text_add(t,
             "# bash completion for ddsc\n"
             "_ddsc()\n{\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
             "    if [ \"$word\" = = ]; then word=; fi\n"
             "    if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"");
    add_verb_names(t);
    text_add(t, " --help --version\"\n    else\n        case $before in\n");
    add_bash_values(t);
    text_add(t, "        esac\n    fi\n"
                "    if [ -z \"$words\" ]; then\n"
                "        case ${COMP_WORDS[1]} in\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (!(*v)->hidden && *v != &verb_help)
            add_bash_verb(t, *v);
    text_add(t, "        help) words=\"");
    add_verb_names(t);
    text_add(t, " metrics paper\" ;;\n        esac\n"
                "        case $word in\n"
                "        -*) ;;\n"
                "        *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                "        esac\n    fi\n"
                "    COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n"
                "}\n"
                "complete -o filenames -F _ddsc ddsc\n");
}

/* Adds a description for zsh, in which brackets, colons and quotes must be escaped. */
static void add_zsh_text(text *t, const char *string)
{
    for (const char *s = string; *s; s++) {
        if (*s == '\'')
            text_add(t, "'\\'");
        else if (strchr("[]:\\", *s))
            text_add(t, "\\");
        text_add_bytes(t, s, 1);
    }
}

static void add_zsh_option(text *t, const option_spec *s)
{
    text words = {0};
    option_words(&words, s);
    bool flag = s->kind == OPTION_FLAG;
    if (s->letter)
        text_addf(t, "            '(-%c --%s)'{-%c%s,--%s%s}'[", s->letter, s->name, s->letter,
                  flag ? "" : "+", s->name, flag ? "" : "=");
    else
        text_addf(t, "            '--%s%s[", s->name, flag ? "" : "=");
    add_zsh_text(t, s->help);
    text_add(t, "]");
    if (words.length)
        text_addf(t, ":value:(%s)", text_get(&words));
    else if (takes_file(s))
        text_add(t, ":file:_files");
    else if (!flag)
        text_add(t, ":value:");
    text_add(t, "' \\\n");
    text_free(&words);
}

static void zsh_script(text *t)
{
    text_add(t, "#compdef ddsc\n_ddsc() {\n    local -a verbs\n    verbs=(\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++)
        if (!(*v)->hidden) {
            text_addf(t, "        '%s:", (*v)->name);
            add_zsh_text(t, (*v)->summary);
            text_add(t, "'\n");
        }
    text_add(t, "    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n"
                "        return\n    fi\n"
                "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                "    case $verb in\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++) {
        if ((*v)->hidden)
            continue;
        text_addf(t, "    %s)\n        _arguments -s \\\n", (*v)->name);
        for (const option_group *const *g = (*v)->groups; *g; g++)
            for (const option_spec *s = (*g)->options; s->name; s++)
                add_zsh_option(t, s);
        text_add(t, *v == &verb_generate     ? "            '1:data:(shapes gaussians)' ;;\n"
                    : *v == &verb_completion ? "            '1:shell:(bash zsh fish)' ;;\n"
                    : *v == &verb_help       ? "            '1:verb:_describe verb verbs' ;;\n"
                                             : "            '*:file:_files' ;;\n");
    }
    text_add(t, "    esac\n}\n_ddsc \"$@\"\n");
}

static void add_fish_text(text *t, const char *string)
{
    for (const char *s = string; *s; s++) {
        if (*s == '\'' || *s == '\\')
            text_add(t, "\\");
        text_add_bytes(t, s, 1);
    }
}

static void add_fish_option(text *t, const cli_verb *verb, const option_spec *s)
{
    text words = {0};
    option_words(&words, s);
    text_addf(t, "complete -c ddsc -n '__fish_seen_subcommand_from %s' -l %s", verb->name, s->name);
    if (s->letter)
        text_addf(t, " -s %c", s->letter);
    if (words.length)
        text_addf(t, " -%sa '%s'", takes_file(s) ? "r" : "x", text_get(&words));
    else if (s->kind != OPTION_FLAG)
        text_add(t, takes_file(s) ? " -r" : " -x");
    text_add(t, " -d '");
    add_fish_text(t, s->help);
    text_add(t, "'\n");
    text_free(&words);
}

static void fish_script(text *t)
{
    text_add(t, "# fish completion for ddsc\n");
    for (const cli_verb *const *v = cli_verbs; *v; v++) {
        if ((*v)->hidden)
            continue;
        text_addf(t, "complete -c ddsc -n __fish_use_subcommand -fa %s -d '", (*v)->name);
        add_fish_text(t, (*v)->summary);
        text_add(t, "'\n");
        for (const option_group *const *g = (*v)->groups; *g; g++)
            for (const option_spec *s = (*g)->options; s->name; s++)
                add_fish_option(t, *v, s);
    }
    text_add(t, "complete -c ddsc -n '__fish_seen_subcommand_from generate' -fa "
                "'shapes gaussians'\n"
                "complete -c ddsc -n '__fish_seen_subcommand_from completion' -fa 'bash zsh fish'\n"
                "complete -c ddsc -n '__fish_seen_subcommand_from help' -fa 'metrics paper'\n");
}

bool completion_script(text *t, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_script(t);
    else if (strcmp(shell, "zsh") == 0)
        zsh_script(t);
    else if (strcmp(shell, "fish") == 0)
        fish_script(t);
    else
        return false;
    return true;
}
