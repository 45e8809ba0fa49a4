#include "core.h"

static void module_free(void *module)
{
    (void)module;
    transport_forget();
}

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "ddsc._core",
                                        .m_doc =
                                            "Bindings of the C library, used by the package ddsc.",
                                        .m_size = -1,
                                        .m_free = module_free};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    if (PyModule_AddFunctions(module, measures_methods) == 0 &&
        PyModule_AddFunctions(module, view_methods) == 0 &&
        PyModule_AddFunctions(module, pairs_methods) == 0 &&
        PyModule_AddFunctions(module, cluster_methods) == 0 &&
        PyModule_AddFunctions(module, model_methods) == 0 &&
        PyModule_AddFunctions(module, findings_methods) == 0 &&
        PyModule_AddFunctions(module, report_methods) == 0 &&
        PyModule_AddFunctions(module, diff_methods) == 0 &&
        PyModule_AddFunctions(module, baseline_methods) == 0 &&
        PyModule_AddFunctions(module, permanova_methods) == 0 &&
        PyModule_AddFunctions(module, states_methods) == 0 &&
        PyModule_AddFunctions(module, index_methods) == 0 &&
        PyModule_AddFunctions(module, transport_methods) == 0 && context_register(module) == 0 &&
        handle_register(module) == 0 &&
        PyModule_AddStringConstant(module, "version", ddsc_version()) == 0 &&
        PyModule_AddStringConstant(module, "features", ddsc_features()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
