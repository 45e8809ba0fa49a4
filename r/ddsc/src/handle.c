/* Implements handles: contexts, interrupts, warnings and the results of calls. */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

static const char HANDLE_TAG[] = "ddsc_handle";

/* ---- text ---- */

int text_write(void *user, const void *bytes, size_t n_bytes)
{
    growing_text *text = user;
    if (text->room - text->n < n_bytes + 1) {
        size_t room = 2 * text->room + n_bytes + 256;
        char *grown = realloc(text->bytes, room);
        text->failed |= !grown;
        if (!grown)
            return 1;
        text->bytes = grown;
        text->room = room;
    }
    memcpy(text->bytes + text->n, bytes, n_bytes);
    text->n += n_bytes;
    text->bytes[text->n] = 0;
    return 0;
}

SEXP text_string(const growing_text *text)
{
    if (text->n > INT_MAX)
        Rf_error("a text of %.0f bytes exceeds the maximum length of an R string", (double)text->n);
    SEXP bytes = PROTECT(Rf_mkCharLenCE(text->bytes ? text->bytes : "", (int)text->n, CE_UTF8));
    SEXP string = Rf_ScalarString(bytes);
    UNPROTECT(1);
    return string;
}

void text_free(growing_text *text)
{
    free(text->bytes);
    *text = (growing_text){0};
}

SEXP string_of(const char *bytes)
{
    return bytes ? Rf_mkCharCE(bytes, CE_UTF8) : NA_STRING;
}

SEXP named_list(int n, const char *const *names)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n));
    SEXP words = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++)
        SET_STRING_ELT(words, i, string_of(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, words);
    UNPROTECT(1);
    return list;
}

/* ---- callbacks of the library ---- */

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

/* R_CheckUserInterrupt uses longjmp, which must not jump through the library. R_ToplevelExec
 * catches the jump. */
static int on_cancel(void *user)
{
    handle *h = user;
    if (!h->interrupted && !R_ToplevelExec(check_interrupt, NULL))
        h->interrupted = true;
    return h->interrupted;
}

static void on_warning(void *user, const char *words)
{
    handle *h = user;
    text_write(&h->warnings, words, strlen(words));
    text_write(&h->warnings, "\n", 1);
}

typedef struct progress_line {
    handle *h;
    const char *stage;
    double percent; /* negative: unknown */
} progress_line;

static void print_progress(void *user)
{
    const progress_line *line = user;
    bool same = strncmp(line->h->stage, line->stage, sizeof line->h->stage - 1) == 0;
    if (line->percent >= 0)
        REprintf("%s%s %3.0f%%",
                 same                ? "\r"
                 : line->h->stage[0] ? "\n"
                                     : "",
                 line->stage, line->percent);
    else if (!same)
        REprintf("%s%s", line->h->stage[0] ? "\n" : "", line->stage);
}

/* Printing can also raise an R error (for example, in a sink), which uses longjmp. R_ToplevelExec
 * prevents a jump through the library here as well. */
static void on_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    handle *h = user;
    progress_line line = {h, stage, total > 0 ? 100.0 * (double)done / (double)total : -1};
    R_ToplevelExec(print_progress, &line);
    strncpy(h->stage, stage, sizeof h->stage - 1);
}

/* ---- handles ---- */

static void release(handle *h)
{
    if (!h || --h->references > 0)
        return;
    ddsc_report_destroy(h->report);
    ddsc_model_destroy(h->model);
    ddsc_clustering_destroy(h->clustering);
    ddsc_graph_destroy(h->graph);
    ddsc_measures_destroy(h->set);
    ddsc_context_destroy(h->ctx);
    text_free(&h->warnings);
    text_free(&h->output);
    release(h->parent);
    free(h);
}

static void finalize(SEXP pointer)
{
    handle *h = R_ExternalPtrAddr(pointer);
    R_ClearExternalPtr(pointer);
    release(h);
}

SEXP handle_new(SEXP run, handle *parent, SEXP keep)
{
    ddsc_context_settings set;
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install(HANDLE_TAG), keep));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    handle *h = calloc(1, sizeof *h);
    if (!h)
        Rf_error("out of memory");
    h->references = 1;
    R_SetExternalPtrAddr(pointer, h);
    if (parent) {
        h->parent = parent;
        parent->references++;
    }
    ddsc_context_settings_init(&set);
    set.seed = (uint64_t)Rf_asReal(VECTOR_ELT(run, 0));
    set.threads = Rf_asInteger(VECTOR_ELT(run, 1));
    if (Rf_asLogical(VECTOR_ELT(run, 2)) == TRUE) {
        set.progress = on_progress;
        set.progress_user = h;
    }
    set.cancel = on_cancel;
    set.cancel_user = h;
    set.warning = on_warning;
    set.warning_user = h;
    if (ddsc_context_create(&h->ctx, &set) < 0)
        Rf_error("cannot create a context: use fewer threads, or free memory");
    UNPROTECT(1);
    return pointer;
}

handle *handle_get(SEXP pointer)
{
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != Rf_install(HANDLE_TAG))
        Rf_error(
            "expected an object of the package ddsc, such as the result of ddsc() or ddsc_read()");
    handle *h = R_ExternalPtrAddr(pointer);
    if (!h)
        Rf_error("the data of this object belong to an earlier R session; save results with "
                 "ddsc_save() and read them with ddsc_load()");
    return h;
}

void handle_begin(handle *h)
{
    h->status = DDSC_OK;
    h->interrupted = false;
    h->stage[0] = 0;
    text_free(&h->warnings);
    text_free(&h->output);
}

bool handle_replace_set(handle *h, ddsc_status status, ddsc_measures *const *copy)
{
    h->status = status;
    if (status < 0)
        return false;
    ddsc_measures_destroy(h->set);
    h->set = *copy;
    return true;
}

SEXP handle_answer(const handle *h, SEXP value)
{
    static const char *const names[] = {"value",   "status",   "kind",
                                        "message", "warnings", "interrupted"};
    if (h->stage[0])
        REprintf("\n");
    PROTECT(value);
    SEXP answer = named_list(6, names);
    SET_VECTOR_ELT(answer, 0, h->status < 0 ? R_NilValue : value);
    SET_VECTOR_ELT(answer, 1, Rf_ScalarInteger((int)h->status));
    SET_VECTOR_ELT(answer, 2, Rf_mkString(ddsc_status_name(h->status)));
    SET_VECTOR_ELT(answer, 3, Rf_ScalarString(string_of(ddsc_context_get_message(h->ctx))));
    SET_VECTOR_ELT(answer, 4, text_string(&h->warnings));
    SET_VECTOR_ELT(answer, 5, Rf_ScalarLogical(h->interrupted));
    UNPROTECT(2);
    return answer;
}
