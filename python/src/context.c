/* Implements the context of a call: threads, progress, Ctrl-C, and the conversion of a status to an
 * exception. */
#include <string.h>
#include <time.h>

#include "core.h"

PyTypeObject *context_type;

/* Minimum seconds between checks for signals. A check acquires the interpreter lock and may have to
 * wait for another thread. */
static const double LOOK_EVERY = 0.05;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Polls for Ctrl-C. Python delivers signals only when the main thread checks for them, and the
 * library polls on the calling thread. */
static int on_cancel(void *user)
{
    core_context *self = user;
    double now = seconds();
    if (self->failed)
        return 1;
    if (now - self->last_look < LOOK_EVERY)
        return 0;
    self->last_look = now;
    PyEval_RestoreThread(self->saved);
    self->failed = PyErr_CheckSignals() < 0;
    self->saved = PyEval_SaveThread();
    return self->failed;
}

static void on_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    core_context *self = user;
    if (self->failed)
        return;
    PyEval_RestoreThread(self->saved);
    PyObject *answer =
        PyObject_CallFunction(self->progress, "sLL", stage, (long long)done, (long long)total);
    self->failed = !answer;
    Py_XDECREF(answer);
    self->saved = PyEval_SaveThread();
}

/* Stores a warning. The Python caller issues the warning after the call, because no exception can
 * be raised here. */
static void on_warning(void *user, const char *text)
{
    core_context *self = user;
    PyEval_RestoreThread(self->saved);
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!words || PyList_Append(self->warnings, words) < 0)
        PyErr_Clear();
    Py_XDECREF(words);
    self->saved = PyEval_SaveThread();
}

bool context_begin(core_context *self)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this context is in use by another thread; use one context per thread");
        return false;
    }
    self->busy = true;
    self->failed = false;
    self->last_look = seconds();
    self->saved = PyEval_SaveThread();
    return true;
}

static PyObject *exception_of(ddsc_status status)
{
    switch (status) {
    case DDSC_ERROR_ARGUMENT:
    case DDSC_ERROR_INPUT: return PyExc_ValueError;
    case DDSC_ERROR_MEMORY: return PyExc_MemoryError;
    case DDSC_ERROR_IO: return PyExc_OSError;
    case DDSC_ERROR_EXISTS: return PyExc_FileExistsError;
    default: return PyExc_RuntimeError;
    }
}

bool context_end(core_context *self, ddsc_status status)
{
    PyEval_RestoreThread(self->saved);
    self->busy = false;
    self->status = (int)status;
    if (PyErr_Occurred())
        return false;
    if (status >= 0)
        return true;
    const char *message = ddsc_context_get_message(self->ctx);
    PyErr_SetString(exception_of(status), *message ? message : ddsc_status_name(status));
    return false;
}

static int context_init(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"threads",  "seed", "memory_limit", "progress", "read_timeout",
                            "encoding", NULL};
    core_context *self = (core_context *)object;
    unsigned long long seed = 0;
    long long memory_limit = 0;
    int threads = 0, encoding = 0;
    PyObject *progress = Py_None;
    ddsc_context_settings set;
    ddsc_context_settings_init(&set);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|iKLOdi", names, &threads, &seed,
                                     &memory_limit, &progress, &set.read_timeout_s, &encoding))
        return -1;
    if (self->ctx) {
        PyErr_SetString(PyExc_RuntimeError, "a context cannot be initialized twice");
        return -1;
    }
    self->warnings = PyList_New(0);
    if (!self->warnings)
        return -1;
    set.encoding = (ddsc_encoding)encoding;
    set.threads = threads;
    set.seed = seed;
    set.memory_limit = memory_limit;
    set.cancel = on_cancel;
    set.cancel_user = self;
    set.warning = on_warning;
    set.warning_user = self;
    if (progress != Py_None) {
        Py_INCREF(progress);
        self->progress = progress;
        set.progress = on_progress;
        set.progress_user = self;
    }
    ddsc_status status = ddsc_context_create(&self->ctx, &set);
    if (status < 0)
        PyErr_SetString(exception_of(status), "invalid threads or memory_limit, or out of memory");
    return status < 0 ? -1 : 0;
}

static void context_dealloc(PyObject *object)
{
    core_context *self = (core_context *)object;
    PyTypeObject *type = Py_TYPE(object);
    ddsc_context_destroy(self->ctx);
    Py_XDECREF(self->progress);
    Py_XDECREF(self->warnings);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *get_status(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((core_context *)self)->status);
}

static PyObject *get_message(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(ddsc_context_get_message(((core_context *)self)->ctx));
}

static PyObject *get_threads(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(ddsc_context_get_threads(((core_context *)self)->ctx));
}

static PyObject *get_peak(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(ddsc_context_get_peak_memory(((core_context *)self)->ctx));
}

static PyObject *take_warnings(PyObject *object, PyObject *nothing)
{
    core_context *self = (core_context *)object;
    PyObject *told = self->warnings, *fresh = PyList_New(0);
    (void)nothing;
    if (!fresh)
        return NULL;
    self->warnings = fresh;
    return told;
}

static PyObject *set_resume(PyObject *object, PyObject *args)
{
    core_context *self = (core_context *)object;
    const char *folder, *settings;
    if (!PyArg_ParseTuple(args, "zz", &folder, &settings) || !context_begin(self) ||
        !context_end(self, ddsc_context_set_resume(self->ctx, folder, settings)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *set_device(PyObject *object, PyObject *args)
{
    core_context *self = (core_context *)object;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name) || !context_begin(self) ||
        !context_end(self, ddsc_context_set_device(self->ctx, name)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *get_device(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(ddsc_context_get_device(((core_context *)self)->ctx));
}

static PyMethodDef context_methods[] = {
    {"set_resume", set_resume, METH_VARARGS, "(folder, settings)"},
    {"set_device", set_device, METH_VARARGS, "(name)"},
    {"take_warnings", take_warnings, METH_NOARGS, "warnings since the last call"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef context_getset[] = {
    {"status", get_status, NULL, "status of the last call; positive values are not errors", NULL},
    {"message", get_message, NULL, "message of the last call", NULL},
    {"threads", get_threads, NULL, "number of threads", NULL},
    {"peak_memory", get_peak, NULL, "peak memory in bytes", NULL},
    {"device", get_device, NULL, "device that was used: cpu, or the name of a device", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot context_slots[] = {
    {Py_tp_init, context_init},     {Py_tp_dealloc, context_dealloc},
    {Py_tp_getset, context_getset}, {Py_tp_methods, context_methods},
    {Py_tp_new, PyType_GenericNew}, {0, NULL}};

static PyType_Spec context_spec = {.name = "ddsc._core.Context",
                                   .basicsize = sizeof(core_context),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = context_slots};

int context_register(PyObject *module)
{
    context_type = (PyTypeObject *)PyType_FromSpec(&context_spec);
    if (!context_type)
        return -1;
    Py_INCREF((PyObject *)context_type);
    return PyModule_AddObject(module, "Context", (PyObject *)context_type);
}
