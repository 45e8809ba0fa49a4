/* Chooses the BLAS kernels for matrix products. OpenBLAS selects kernels for the processor when it
 * is loaded. A version that does not know the processor uses kernels from 2004 (Prescott), which
 * halves the speed of distances that use matrix products. OpenBLAS reads the environment variable
 * only when it is loaded, so the program sets it and restarts itself. It does not restart if the
 * user has set the variable or if the selected kernels are adequate. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#if defined(__x86_64__) && defined(__linux__)

static const char *kernels_taken(void)
{
    const char *(*name)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
    if (!symbol)
        return "";
    memcpy(&name, &symbol, sizeof name);
    return name();
}

static const char *kernels_wanted(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
    return NULL;
}

/* Returns true if /proc/self/exe is this program, and not a loader or emulator that runs it. */
static bool own_file(void)
{
    Dl_info here;
    struct stat one, other;
    void *code = NULL;
    void (*function)(char **) = choose_kernels;
    memcpy(&code, &function, sizeof code);
    return dladdr(code, &here) && here.dli_fname && stat(here.dli_fname, &one) == 0 &&
           stat("/proc/self/exe", &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

void choose_kernels(char **argv)
{
    const char *wanted = kernels_wanted();
    char
        path[PATH_MAX]; /* so that process lists show the path with which the program was started */
    if (!wanted || getenv("OPENBLAS_CORETYPE") || strcmp(kernels_taken(), "Prescott") != 0 ||
        !own_file())
        return;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || setenv("OPENBLAS_CORETYPE", wanted, 0) != 0)
        return;
    path[n] = '\0';
    execv(path, argv); /* returns only on failure; the program then continues unchanged */
}

#else

void choose_kernels(char **argv)
{
    (void)argv;
}

#endif
