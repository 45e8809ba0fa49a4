/* Solves single transport problems. emd has a fast path for small problems. The solver takes
 * about three microseconds for 16 x 16 points, so this path creates no arrays and no context,
 * and reads no dictionary. */
#include "core.h"

enum { QUICK_CELLS = 64 * 64 };

/* A context that is reused for the next small problem. Only the thread that holds the interpreter
 * lock may use it. */
static ddsc_context *idle;

void transport_forget(void)
{
    ddsc_context_destroy(idle);
    idle = NULL;
}

static ddsc_context *idle_take(void)
{
    ddsc_context *ctx = idle;
    ddsc_context_settings set;
    idle = NULL;
    if (ctx)
        return ctx;
    ddsc_context_settings_init(&set);
    set.threads = 1;
    if (ddsc_context_create(&ctx, &set) < 0)
        PyErr_NoMemory();
    return ctx;
}

static void idle_give(ddsc_context *ctx)
{
    if (idle)
        ddsc_context_destroy(ctx);
    else
        idle = ctx;
}

static bool quick_problem(const Py_buffer *a, const Py_buffer *b, const Py_buffer *cost)
{
    return a->ndim == 1 && b->ndim == 1 && cost->ndim == 2 && cost->shape[0] == a->shape[0] &&
           cost->shape[1] == b->shape[0] && buffer_is(a, 'd') && buffer_is(b, 'd') &&
           buffer_is(cost, 'd') && a->shape[0] * b->shape[0] <= QUICK_CELLS;
}

/* Returns the value of a small problem whose arrays can be used without conversion, or None if
 * the general function is required. */
static PyObject *emd_quick(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    Py_buffer buffer[3];
    PyObject *result = NULL;
    ddsc_context *ctx = NULL;
    ddsc_transport found;
    ddsc_transport_problem problem;
    int n = 0;
    (void)module;
    for (; n < 3 && n_args == 3; n++)
        if (PyObject_GetBuffer(args[n], &buffer[n], PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
            PyErr_Clear();
            break;
        }
    if (n == 3 && quick_problem(&buffer[0], &buffer[1], &buffer[2]) && (ctx = idle_take())) {
        ddsc_transport_init(&found);
        ddsc_transport_problem_init(&problem);
        problem.n = buffer[0].shape[0];
        problem.m = buffer[1].shape[0];
        problem.a = buffer[0].buf;
        problem.b = buffer[1].buf;
        problem.cost = buffer[2].buf;
        ddsc_status status = ddsc_emd_run(ctx, &found, &problem);
        if (status == DDSC_OK)
            result = PyFloat_FromDouble(found.primal);
        idle_give(ctx);
    }
    while (n > 0)
        PyBuffer_Release(&buffer[--n]);
    if (result || PyErr_Occurred())
        return result;
    Py_RETURN_NONE;
}

typedef struct problem {
    Py_buffer a, b, cost, plan, f, g;
    int64_t n, m;
} problem;

static void problem_free(problem *p)
{
    PyBuffer_Release(&p->a);
    PyBuffer_Release(&p->b);
    PyBuffer_Release(&p->cost);
    PyBuffer_Release(&p->plan);
    PyBuffer_Release(&p->f);
    PyBuffer_Release(&p->g);
}

static bool problem_take(problem *p, PyObject *const object[5])
{
    if (!buffer_get(object[0], &p->a, 'd', 0, "a") || !buffer_get(object[1], &p->b, 'd', 0, "b") ||
        !buffer_get(object[2], &p->cost, 'd', 0, "M") ||
        !buffer_get(object[3], &p->f, 'd', 1, "f") || !buffer_get(object[4], &p->g, 'd', 1, "g"))
        return false;
    p->n = buffer_count(&p->a);
    p->m = buffer_count(&p->b);
    if (p->cost.ndim != 2 || p->cost.shape[0] != p->n || p->cost.shape[1] != p->m) {
        PyErr_Format(PyExc_ValueError,
                     "a has %lld weights and b has %lld; M must have the same shape",
                     (long long)p->n, (long long)p->m);
        return false;
    }
    return buffer_holds(&p->f, p->n, "f") && buffer_holds(&p->g, p->m, "g");
}

/* Fills the library's struct from the Python arguments. */
static void problem_give(const problem *p, ddsc_transport_problem *asked, ddsc_transport *to)
{
    ddsc_transport_problem_init(asked);
    asked->n = p->n;
    asked->m = p->m;
    asked->a = p->a.buf;
    asked->b = p->b.buf;
    asked->cost = p->cost.buf;
    ddsc_transport_init(to);
    to->f = p->f.buf;
    to->g = p->g.buf;
    to->plan = p->plan.buf;
}

/* plan_row, plan_column and plan_mass need space for n + m - 1 entries. */
static PyObject *emd(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *object[5], *row_of, *column_of, *mass_of, *result = NULL;
    Py_buffer row = {0}, column = {0}, mass = {0};
    problem p = {0};
    ddsc_transport_problem asked;
    ddsc_transport t;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOOOOOOO", context_type, &context, &object[0], &object[1],
                          &object[2], &object[3], &object[4], &row_of, &column_of, &mass_of))
        return NULL;
    if (problem_take(&p, object) && buffer_get(row_of, &row, 'i', 1, "plan_row") &&
        buffer_get(column_of, &column, 'i', 1, "plan_column") &&
        buffer_get(mass_of, &mass, 'd', 1, "plan_mass") &&
        buffer_holds(&row, p.n + p.m - 1, "plan_row") &&
        buffer_holds(&column, p.n + p.m - 1, "plan_column") &&
        buffer_holds(&mass, p.n + p.m - 1, "plan_mass") && context_begin(context)) {
        problem_give(&p, &asked, &t);
        t.plan_row = row.buf;
        t.plan_column = column.buf;
        t.plan_mass = mass.buf;
        if (context_end(context, ddsc_emd_run(context->ctx, &t, &asked)))
            result = Py_BuildValue("dddLL", t.primal, t.dual, t.gap, (long long)t.n_plan,
                                   (long long)t.n_iterations);
    }
    problem_free(&p);
    PyBuffer_Release(&row);
    PyBuffer_Release(&column);
    PyBuffer_Release(&mass);
    return result;
}

static PyObject *sinkhorn(PyObject *module, PyObject *args)
{
    core_context *context;
    PyObject *object[5], *plan_of, *result = NULL;
    double epsilon, tolerance;
    ddsc_sinkhorn_settings set;
    int which;
    long long max_iterations;
    problem p = {0};
    ddsc_transport_problem asked;
    ddsc_transport t;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOOOOOdidL", context_type, &context, &object[0], &object[1],
                          &object[2], &object[3], &object[4], &plan_of, &epsilon, &which,
                          &tolerance, &max_iterations))
        return NULL;
    if (problem_take(&p, object) &&
        (plan_of == Py_None || buffer_get(plan_of, &p.plan, 'd', 1, "plan")) &&
        (plan_of == Py_None || buffer_holds(&p.plan, p.n * p.m, "plan")) &&
        context_begin(context)) {
        problem_give(&p, &asked, &t);
        ddsc_sinkhorn_settings_init(&set);
        set.epsilon = epsilon;
        set.value = (ddsc_sinkhorn_value)which;
        set.tolerance = tolerance;
        set.max_iterations = max_iterations;
        if (context_end(context, ddsc_sinkhorn_run(context->ctx, &t, &asked, &set)))
            result = Py_BuildValue("dddL", t.value, t.dual, t.gap, (long long)t.n_iterations);
    }
    problem_free(&p);
    return result;
}

PyMethodDef transport_methods[] = {
    {"emd_quick", (PyCFunction)(void (*)(void))emd_quick, METH_FASTCALL, "(a, b, M) or None"},
    {"emd", emd, METH_VARARGS, "(context, a, b, M, f, g, plan_row, plan_column, plan_mass)"},
    {"sinkhorn", sinkhorn, METH_VARARGS,
     "(context, a, b, M, f, g, plan, epsilon, which, tolerance, max_iterations)"},
    {NULL, NULL, 0, NULL}};
