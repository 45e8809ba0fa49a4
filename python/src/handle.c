/* Implements handles to library objects, and views of their memory that keep them alive. */
#include "core.h"

PyTypeObject *handle_type;
static PyTypeObject *block_type;

/* ---- handles ---- */

#define DESTROY(name)                             \
    static void destroy_##name(core_handle *self) \
    {                                             \
        ddsc_##name##_destroy(self->pointer);     \
    }
DESTROY(measures)
DESTROY(graph)
DESTROY(clustering)
DESTROY(model)
DESTROY(barycenter)
DESTROY(stability)
DESTROY(d2)
DESTROY(update)
DESTROY(index)

static void destroy_memory(core_handle *self)
{
    ddsc_release(self->context->ctx, self->pointer);
}

static void (*const destroy[CORE_KINDS])(core_handle *) = {
    destroy_measures,  destroy_graph, destroy_clustering, destroy_model,  destroy_barycenter,
    destroy_stability, destroy_d2,    destroy_memory,     destroy_update, destroy_index};

PyObject *handle_new(core_context *context, core_kind kind, void *pointer)
{
    core_handle *self = PyObject_New(core_handle, handle_type);
    core_handle lost = {.pointer = pointer, .context = context};
    if (!self) {
        destroy[kind](&lost);
        return NULL;
    }
    Py_INCREF((PyObject *)context);
    self->pointer = pointer;
    self->context = context;
    self->kind = kind;
    self->owner = self->needed = NULL;
    return (PyObject *)self;
}

PyObject *handle_result(core_context *context, core_kind kind, void *pointer, ddsc_status status)
{
    core_handle lost = {.pointer = pointer, .context = context};
    if (context_end(context, status))
        return handle_new(context, kind, pointer);
    destroy[kind](&lost);
    return NULL;
}

PyObject *handle_result_of(core_context *context, core_kind kind, void *pointer, ddsc_status status,
                           PyObject *needed)
{
    PyObject *made = handle_result(context, kind, pointer, status);
    if (made) {
        Py_INCREF(needed);
        ((core_handle *)made)->needed = needed;
    }
    return made;
}

PyObject *handle_borrow(PyObject *owner, core_kind kind, const void *pointer)
{
    core_handle *self = PyObject_New(core_handle, handle_type);
    if (!self)
        return NULL;
    self->context = ((core_handle *)owner)->context;
    Py_INCREF((PyObject *)self->context);
    Py_INCREF(owner);
    self->pointer = (void *)(uintptr_t)pointer;
    self->kind = kind;
    self->owner = owner;
    self->needed = NULL;
    return (PyObject *)self;
}

static void handle_dealloc(PyObject *object)
{
    core_handle *self = (core_handle *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->owner)
        Py_DECREF(self->owner);
    else
        destroy[self->kind](self);
    Py_XDECREF(self->needed);
    Py_DECREF((PyObject *)self->context);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static int handle_of(PyObject *object, void *out, core_kind kind, const char *name)
{
    core_handle *self = (core_handle *)object;
    if (!PyObject_TypeCheck(object, handle_type) || self->kind != kind) {
        PyErr_Format(PyExc_TypeError, "expected a handle of %s", name);
        return 0;
    }
    *(core_handle **)out = self;
    return 1;
}

int handle_measures(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_MEASURES, "measures");
}

int handle_graph(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_GRAPH, "a graph");
}

int handle_clustering(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_CLUSTERING, "a clustering");
}

int handle_model(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_MODEL, "a model");
}

int handle_stability(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_STABILITY, "a stability");
}

int handle_d2(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_D2, "d2");
}

int handle_index(PyObject *object, void *out)
{
    return handle_of(object, out, CORE_INDEX, "an index");
}

/* ---- blocks ---- */

typedef struct core_block {
    PyObject_HEAD PyObject *owner;
    void *data;
    char format[2];
    Py_ssize_t item_size, shape[2], strides[2];
    int n_dims;
} core_block;

PyObject *block_new(PyObject *owner, const void *data, const char *format, int64_t rows,
                    int64_t columns)
{
    core_block *self = PyObject_New(core_block, block_type);
    if (!self)
        return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->data = (void *)(uintptr_t)data;
    self->format[0] = *format;
    self->format[1] = '\0';
    self->item_size = *format == 'i' ? 4 : 8;
    self->n_dims = columns < 0 ? 1 : 2;
    self->shape[0] = (Py_ssize_t)rows;
    self->shape[1] = columns < 0 ? 1 : (Py_ssize_t)columns;
    self->strides[1] = self->item_size;
    self->strides[0] = self->item_size * self->shape[1];
    return (PyObject *)self;
}

static void block_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((core_block *)object)->owner);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static int block_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    core_block *self = (core_block *)object;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "results are read-only");
        view->obj = NULL;
        return -1;
    }
    *view = (Py_buffer){.buf = self->data,
                        .obj = object,
                        .len = self->shape[0] * self->strides[0],
                        .itemsize = self->item_size,
                        .readonly = 1,
                        .ndim = self->n_dims,
                        .format = flags & PyBUF_FORMAT ? self->format : NULL,
                        .shape = self->shape,
                        .strides = self->strides};
    Py_INCREF(object);
    return 0;
}

static PyType_Slot handle_slots[] = {{Py_tp_dealloc, handle_dealloc}, {0, NULL}};
static PyType_Spec handle_spec = {.name = "ddsc._core.Handle",
                                  .basicsize = sizeof(core_handle),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = handle_slots};
static PyType_Slot block_slots[] = {
    {Py_tp_dealloc, block_dealloc}, {Py_bf_getbuffer, block_getbuffer}, {0, NULL}};
static PyType_Spec block_spec = {.name = "ddsc._core.Block",
                                 .basicsize = sizeof(core_block),
                                 .flags = Py_TPFLAGS_DEFAULT,
                                 .slots = block_slots};

int handle_register(PyObject *module)
{
    handle_type = (PyTypeObject *)PyType_FromSpec(&handle_spec);
    block_type = (PyTypeObject *)PyType_FromSpec(&block_spec);
    if (!handle_type || !block_type)
        return -1;
    Py_INCREF((PyObject *)handle_type);
    return PyModule_AddObject(module, "Handle", (PyObject *)handle_type);
}
