/* Parses options in GNU style. The value of a long option follows = or is the next word.
 * One-letter options can be combined, "--" ends the options, and options and operands can be in
 * any order. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    cli_options *o;
    const cli_verb *verb;
    char **words;
    int n_words, at;
    text shown; /* values other than numbers and choices are replaced with "..." */
} parser;

void options_free(cli_options *o)
{
    free(o->operand);
    free(o->given);
    free(o->command);
    o->command = NULL;
    o->operand = NULL;
    o->given = NULL;
}

bool option_given(const cli_options *o, const char *name)
{
    for (int i = 0; i < o->n_given; i++)
        if (strcmp(o->given[i]->name, name) == 0)
            return true;
    return false;
}

void option_argument(text *t, const option_spec *option)
{
    if (option->argument) {
        text_add(t, option->argument);
        return;
    }
    if (option->kind != OPTION_CHOICE)
        return;
    for (const option_choice *c = option->choices; c->name; c++)
        text_addf(t, "%s%s", c == option->choices ? "" : "|", c->name);
}

void option_words(text *t, const option_spec *option)
{
    text all = {0};
    option_argument(&all, option);
    const char *s = text_get(&all);
    for (bool first = true; *s;) {
        size_t n = strcspn(s, "|");
        if (islower((unsigned char)*s)) {
            text_add(t, first ? "" : " ");
            text_add_bytes(t, s, n);
            first = false;
        }
        s += n + (s[n] == '|');
    }
    text_free(&all);
}

const char *choice_name(const option_choice *choices, int value)
{
    for (; choices->name; choices++)
        if (choices->value == value)
            return choices->name;
    return "?";
}

/* Spellings of versions up to 0.2.0, which are accepted but not listed in the help
 * (docs/notes/formats.md lists them). */
static const char *const former_names[][2] = {
    {"normalise", "normalize"}, {"centre-size", "center-size"}, {"centre", "center"},
    {"colours", "colors"},      {"regularised", "regularized"}, {"groups", "clusters"}};

/* Returns the current spelling of an option name or an option value of `length` bytes, or NULL. */
static const char *current_name(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof former_names / sizeof *former_names; k++)
        if (strlen(former_names[k][0]) == length && memcmp(former_names[k][0], name, length) == 0)
            return former_names[k][1];
    return NULL;
}

static const option_spec *find_exactly(const cli_verb *verb, const char *name, size_t length)
{
    for (const option_group *const *g = verb->groups; *g; g++)
        for (const option_spec *s = (*g)->options; s->name; s++)
            if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
                return s;
    return NULL;
}

static const option_spec *find_long(const cli_verb *verb, const char *name, size_t length)
{
    const option_spec *found = find_exactly(verb, name, length);
    const char *now = found ? NULL : current_name(name, length);
    return now ? find_exactly(verb, now, strlen(now)) : found;
}

bool verb_has_option(const cli_verb *verb, const char *name)
{
    return find_long(verb, name, strlen(name)) != NULL;
}

static const option_spec *find_letter(const cli_verb *verb, char letter)
{
    for (const option_group *const *g = verb->groups; *g; g++)
        for (const option_spec *s = (*g)->options; s->name; s++)
            if (s->letter == letter)
                return s;
    return NULL;
}

/* Returns the long option of this verb that is closest to `name`. */
static const char *nearest_option(const cli_verb *verb, const char *name)
{
    const char *names[128];
    size_t n = 0;
    for (const option_group *const *g = verb->groups; *g; g++)
        for (const option_spec *s = (*g)->options; s->name && n < 128; s++)
            names[n++] = s->name;
    return suggest(name, names, n);
}

static bool parse_count(int64_t *out, const char *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end || errno || isspace((unsigned char)*value))
        return false;
    *out = v;
    return true;
}

static bool parse_number(double *out, const char *value)
{
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !isfinite(v) || isspace((unsigned char)*value))
        return false;
    *out = v;
    return true;
}

static int bad_value(const parser *p, const option_spec *s, const char *value, const char *wanted)
{
    char letter[8] = "";
    if (s->letter)
        snprintf(letter, sizeof letter, "-%c, ", s->letter);
    return message_usage(p->verb, "%s--%s: '%s' is not %s", letter, s->name, value, wanted);
}

static int take_count(const parser *p, const option_spec *s, const char *value)
{
    int64_t v;
    text wanted = {0};
    int code = EXIT_GOOD;
    if (parse_count(&v, value) && (double)v >= s->minimum) {
        memcpy((char *)p->o + s->offset, &v, sizeof v);
    } else {
        text_addf(&wanted, "an integer of at least %.0f", s->minimum);
        code = bad_value(p, s, value, text_get(&wanted));
    }
    text_free(&wanted);
    return code;
}

static int take_number(const parser *p, const option_spec *s, const char *value)
{
    double v;
    if (!parse_number(&v, value) || v < s->minimum)
        return bad_value(p, s, value, s->minimum < 0 ? "a number" : "a number of at least 0");
    memcpy((char *)p->o + s->offset, &v, sizeof v);
    return EXIT_GOOD;
}

static int take_choice(const parser *p, const option_spec *s, const char *value)
{
    const char *names[16];
    size_t n = 0;
    bool metric = strcmp(s->name, "metric") == 0;
    if (metric)
        p->o->cluster.joined = 0;
    if (metric && strchr(value, '+'))
        return metric_join(p->o, p->verb, value);
    const char *now = current_name(value, strlen(value));
    for (const option_choice *c = s->choices; c->name; c++) {
        if (strcmp(c->name, value) == 0 || (now && strcmp(c->name, now) == 0)) {
            memcpy((char *)p->o + s->offset, &c->value, sizeof c->value);
            return EXIT_GOOD;
        }
        if (n < 16)
            names[n++] = c->name;
    }
    if (metric)
        for (const option_choice *c = choices_method; c->name; c++)
            if (strcmp(c->name, value) == 0 && find_long(p->verb, "method", 6))
                return message_usage(p->verb,
                                     "--metric: '%s' is a method, not a metric; use --method %s",
                                     value, value);
    const char *near = metric ? metric_meant(value) : NULL;
    if (!near)
        near = suggest(value, names, n);
    text wanted = {0};
    option_argument(&wanted, s);
    message_usage(p->verb, "--%s: '%s' is not one of %s%s%s%s", s->name, value, text_get(&wanted),
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    text_free(&wanted);
    return EXIT_USAGE;
}

/* Returns true if the value reveals nothing about the data. Numbers and choices reveal nothing;
 * paths, columns and patterns might. */
static bool is_anonymous(const option_spec *s, const char *value)
{
    if (s->kind == OPTION_OTHER)
        return strcmp(value, "auto") == 0 || value[strspn(value, "0123456789.:%+-")] == '\0';
    return s->kind == OPTION_COUNT || s->kind == OPTION_NUMBER || s->kind == OPTION_CHOICE;
}

static void show_option(parser *p, const option_spec *s, const char *value)
{
    text_addf(&p->shown, " --%s", s->name);
    if (s->kind != OPTION_FLAG)
        text_addf(&p->shown, " %s", is_anonymous(s, value) ? value : "...");
}

static int take(parser *p, const option_spec *s, const char *value)
{
    const char *wanted;
    static const int one = 1;
    show_option(p, s, value);
    p->o->given[p->o->n_given++] = s;
    switch (s->kind) {
    case OPTION_FLAG: memcpy((char *)p->o + s->offset, &one, sizeof one); return EXIT_GOOD;
    case OPTION_COUNT: return take_count(p, s, value);
    case OPTION_NUMBER: return take_number(p, s, value);
    case OPTION_CHOICE: return take_choice(p, s, value);
    case OPTION_TEXT:
    case OPTION_FILE:
        if (!*value)
            return bad_value(p, s, value, s->kind == OPTION_FILE ? "a file" : "a nonempty value");
        memcpy((char *)p->o + s->offset, &value, sizeof value);
        return EXIT_GOOD;
    case OPTION_OTHER: break;
    }
    wanted = s->parse(p->o, value);
    return wanted ? bad_value(p, s, value, wanted) : EXIT_GOOD;
}

/* Reads the value of an option from the rest of its word or from the next word. */
static int take_with_value(parser *p, const option_spec *s, const char *attached)
{
    if (!attached && p->at + 1 >= p->n_words) {
        text argument = {0};
        option_argument(&argument, s);
        message_usage(p->verb, "--%s needs a value (%s)", s->name, text_get(&argument));
        text_free(&argument);
        return EXIT_USAGE;
    }
    return take(p, s, attached ? attached : p->words[++p->at]);
}

static int take_long(parser *p, const char *name)
{
    size_t length = strcspn(name, "=");
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    const option_spec *s = find_long(p->verb, name, length);
    if (!s) {
        text word = {0};
        text_add_bytes(&word, name, length);
        const char *near = nearest_option(p->verb, text_get(&word));
        message_usage(p->verb, "unknown option '--%s'%s%s%s", text_get(&word),
                      near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
        text_free(&word);
        return EXIT_USAGE;
    }
    if (s->kind != OPTION_FLAG)
        return take_with_value(p, s, attached);
    if (attached)
        return message_usage(p->verb, "--%s does not take a value", s->name);
    return take(p, s, NULL);
}

static int take_letters(parser *p, const char *letters)
{
    for (const char *c = letters; *c; c++) {
        const option_spec *s = find_letter(p->verb, *c);
        if (!s)
            return message_usage(p->verb, "unknown option '-%c'", *c);
        if (s->kind != OPTION_FLAG) {
            const char *rest = c[1] == '=' ? c + 2 : c + 1;
            return take_with_value(p, s, c[1] ? rest : NULL);
        }
        int code = take(p, s, NULL);
        if (code != EXIT_GOOD)
            return code;
    }
    return EXIT_GOOD;
}

static int check_operands(const parser *p)
{
    const cli_options *o = p->o;
    if (o->help)
        return EXIT_GOOD;
    if (o->n_operands < p->verb->min_operands)
        return message_usage(p->verb, "%s: 'ddsc %s %s'",
                             o->n_operands ? "an operand is missing" : "no input given",
                             p->verb->name, p->verb->operands);
    if (p->verb->max_operands >= 0 && o->n_operands > p->verb->max_operands)
        return message_usage(p->verb, "unexpected operand '%s'", o->operand[p->verb->max_operands]);
    return EXIT_GOOD;
}

/* Adds a word, quoted for a shell. */
static void add_quoted(text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    text_add(t, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(t, word);
        return;
    }
    text_add(t, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(t, "'\\''");
        else
            text_add_bytes(t, word, 1);
    text_add(t, "'");
}

static char *command_line(const cli_verb *verb, int n_words, char **words)
{
    text t = {0};
    text_addf(&t, "ddsc %s", verb->name);
    for (int i = 0; i < n_words; i++)
        add_quoted(&t, words[i]);
    return t.bytes;
}

/* Returns the command for --private, without paths, columns and names. */
static char *private_command(const parser *p)
{
    text t = {0};
    text_addf(&t, "ddsc %s", p->verb->name);
    for (int i = 0; i < p->o->n_operands; i++)
        text_add(&t, " ...");
    text_add(&t, text_get(&p->shown));
    return t.bytes;
}

bool options_parse(cli_options *o, const cli_verb *verb, int n_words, char **words, int *code)
{
    parser p = {.o = o, .verb = verb, .words = words, .n_words = n_words};
    size_t letters = 0;
    for (int i = 0; i < n_words; i++)
        letters += strlen(words[i]) + 1;
    o->operand = cli_allocate((size_t)n_words + 1, sizeof *o->operand);
    o->given = cli_allocate(letters + 1, sizeof *o->given);
    *code = EXIT_GOOD;
    bool operands_only = false;
    for (p.at = 0; p.at < n_words && *code == EXIT_GOOD; p.at++) {
        const char *word = words[p.at];
        if (operands_only || word[0] != '-' || word[1] == '\0')
            o->operand[o->n_operands++] = word;
        else if (strcmp(word, "--") == 0)
            operands_only = true;
        else if (word[1] == '-')
            *code = take_long(&p, word + 2);
        else
            *code = take_letters(&p, word + 1);
    }
    o->command = o->private_ ? private_command(&p) : command_line(verb, n_words, words);
    text_free(&p.shown);
    o->graph.hubs = o->hubs;
    if (*code == EXIT_GOOD)
        *code = check_operands(&p);
    return *code == EXIT_GOOD;
}
