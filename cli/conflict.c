/* Ensures that no output replaces a file that the command reads. Every output path is compared with
 * all inputs of the verb before the computation starts. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define AT(field) offsetof(cli_options, field)

/* The options that name a file or folder to read. The fields are NULL for verbs without these
 * options. */
static const struct {
    const char *option;
    size_t offset;
} inputs[] = {
    {"--truth", AT(truth)},
    {"--distances", AT(distances)},
    {"--labels", AT(read.labels_path)},
    {"--cost", AT(cost_file)},
    {"--reference", AT(reference)},
    {"--vectors", AT(vectors)},
    {"--stopwords", AT(text.stopwords_path)},
    {"--lemmas", AT(text.lemmas_path)},
    {"--like", AT(like)},
    {"--remove", AT(remove)},
};

typedef struct conflict {
    const cli_verb *verb;
    struct stat output;
    char found[4096]; /* path of the input that is the same file, or "" */
} conflict;

static bool same_file(conflict *c, const char *path, const struct stat *info)
{
    if (info->st_dev != c->output.st_dev || info->st_ino != c->output.st_ino)
        return false;
    snprintf(c->found, sizeof c->found, "%s", path);
    return true;
}

/* Returns true for files that are never read from an input folder. An earlier result may be in such
 * a folder. */
static bool is_never_read(const char *name)
{
    static const char *const endings[] = {".npz", ".mtx", ".d2", ".html", ".json"};
    const char *ending = strrchr(name, '.');
    for (size_t k = 0; ending && k < sizeof endings / sizeof *endings; k++)
        if (strcmp(ending, endings[k]) == 0)
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns true if the verb reads the file. Verbs on results read all files of the result except the
 * page, which is generated from the other files. */
static bool is_read(const cli_verb *verb, const char *name)
{
    if (verb->operand_kind != OPERAND_RESULT && verb->operand_kind != OPERAND_RESULTS)
        return !is_never_read(name);
    bool own = false;
    for (int k = 0; ddsc_report_get_file_name(k); k++)
        own = own || strcmp(name, ddsc_report_get_file_name(k)) == 0;
    return own && strcmp(name, "report.html") != 0;
}

/* Searches the files of a folder and of its subfolders. */
static bool in_folder(conflict *c, const char *folder, int depth)
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !found; e = readdir(dir)) {
        struct stat info;
        if (!is_read(c->verb, e->d_name) || fstatat(dirfd(dir), e->d_name, &info, 0) != 0)
            continue;
        char *path = output_path(folder, e->d_name);
        found = S_ISDIR(info.st_mode) ? depth < 1 && in_folder(c, path, depth + 1)
                                      : same_file(c, path, &info);
        free(path);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Checks the tables that are read together with a d2 file. */
static bool among_tables(conflict *c, const char *path)
{
    char table[PATH_MAX];
    struct stat info;
    for (int64_t k = 0; ddsc_measures_find_table(table, sizeof table, path, k) > 0; k++)
        if (stat(table, &info) == 0 && same_file(c, table, &info))
            return true;
    return false;
}

/* Checks the file of words that is read together with an npy file of vectors. */
static bool is_words(conflict *c, const char *vectors)
{
    char words[PATH_MAX];
    struct stat info;
    return ddsc_text_find_words(words, sizeof words, vectors) > 0 && stat(words, &info) == 0 &&
           same_file(c, words, &info);
}

static bool is_input(conflict *c, const char *path)
{
    struct stat info;
    if (!path)
        return false;
    if (strcmp(path, "-") == 0)
        return fstat(STDIN_FILENO, &info) == 0 && same_file(c, "standard input", &info);
    if (stat(path, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode))
        return in_folder(c, path, 0);
    return same_file(c, path, &info) || among_tables(c, path);
}

/* Returns the option that names the conflicting input, "" for an operand, or NULL if there is no
 * conflict. */
static const char *find_input(conflict *c, const cli_options *o)
{
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        const char *path;
        memcpy(&path, (const char *)o + inputs[k].offset, sizeof path);
        if (is_input(c, path))
            return inputs[k].option;
    }
    if (o->vectors && is_words(c, o->vectors))
        return "--vectors";
    for (int k = 0; k < o->n_meta; k++)
        if (is_input(c, o->meta[k]))
            return "--meta";
    int n = c->verb->operand_kind == OPERAND_WORD     ? 0
            : c->verb->operand_kind == OPERAND_RESULT ? 1
                                                      : o->n_operands;
    for (int k = 0; k < n; k++)
        if (is_input(c, o->operand[k]))
            return "";
    return NULL;
}

bool input_is_not(const session *s, const char *path, int *code)
{
    conflict c = {.verb = s->verb};
    if (stat(path, &c.output) != 0 || !S_ISREG(c.output.st_mode))
        return true;
    const char *option = find_input(&c, &s->opt);
    if (!option)
        return true;
    message_error("%s: the output is the same file as the input %s%s%s; choose another output",
                  path, option, *option ? " " : "", c.found);
    *code = EXIT_USAGE;
    return false;
}

/* Checks the files in the folder of --resume, which are written during the run. */
bool input_is_not_resumed(const session *s, int *code)
{
    DIR *dir = s->opt.resume ? opendir(s->opt.resume) : NULL;
    bool good = true;
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && good; e = readdir(dir))
        if (strcmp(e->d_name, "manifest") == 0 || strncmp(e->d_name, "chunk-", 6) == 0) {
            char *path = output_path(s->opt.resume, e->d_name);
            good = input_is_not(s, path, code);
            free(path);
        }
    if (dir)
        closedir(dir);
    return good;
}
