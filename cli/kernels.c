/* The matrix products' kernels. OpenBLAS chooses them by the processor when it is loaded, and one
 * older than the processor takes those of 2004 (Prescott), which make distances by products half as
 * fast. It reads its choice from the environment at that moment only, so the program starts itself
 * once more with the right one. Where the choice was made by the user, or is a sound one, nothing
 * happens. */
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

/* /proc/self/exe is this program, not a loader or an emulator that runs it. */
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
    char path[PATH_MAX]; /* lists of processes name a program by the path it was started with */
    if (!wanted || getenv("OPENBLAS_CORETYPE") || strcmp(kernels_taken(), "Prescott") != 0 ||
        !own_file())
        return;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || setenv("OPENBLAS_CORETYPE", wanted, 0) != 0)
        return;
    path[n] = '\0';
    execv(path, argv); /* comes back only where it failed: then as before */
}

#else

void choose_kernels(char **argv)
{
    (void)argv;
}

#endif
