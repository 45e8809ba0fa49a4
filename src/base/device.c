/* Opens devices by name. "cuda:1" is device number 1 of the plug-in libddsc_cuda.so. */
#include "base/device.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Minimum number of multiplications for which "auto" uses a device. Smaller problems take
 * less time on the CPU than the 0.2 s that a driver needs to start. In that time, 16 cores
 * perform 4e10 multiplications and two cores 1e10 (docs/gpu.md). */
static const double WORK_LEAST = 3e10;

/* Opens a plug-in. Searches the folder in DDSC_PLUGIN_PATH, then the folder of the library, then
 * the system's search path. Plug-ins are never unloaded, because drivers may leave threads and
 * handlers running. */
static void *open_plugin(const char *name, char *why)
{
    char file[64], path[4096];
    Dl_info own;
    snprintf(file, sizeof file, "libddsc_%s.so", name);
    snprintf(path, sizeof path, "%s", file);
    const char *folder = secure_getenv("DDSC_PLUGIN_PATH");
    if (folder) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
    } else if (dladdr((void *)(uintptr_t)&ddsc_version, &own) && own.dli_fname &&
               strrchr(own.dli_fname, '/')) {
        int length = (int)(strrchr(own.dli_fname, '/') - own.dli_fname);
        snprintf(path, sizeof path, "%.*s/%s", length, own.dli_fname, file);
        if (access(path, R_OK) != 0)
            snprintf(path, sizeof path, "%s", file);
    }
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!plugin)
        snprintf(why, DEVICE_WORDS, "no plug-in: %s", dlerror());
    return plugin;
}

/* Size of the table in each version. */
static const size_t TABLE_SIZE[DEVICE_TABLE_VERSION + 1] = {[1] = offsetof(device_table, within),
                                                            [2] =
                                                                offsetof(device_table, load_sparse),
                                                            [3] = sizeof(device_table)};

static bool find_table(device_table *table, const char *name, char *why)
{
    void *plugin = open_plugin(name, why), *symbol = plugin ? dlsym(plugin, DEVICE_ENTRY) : NULL;
    device_entry entry;
    if (!plugin)
        return false;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C cannot cast object to function pointers */
    const device_table *found = entry ? entry() : NULL;
    if (!found || found->version < 1 || found->version > DEVICE_TABLE_VERSION) {
        snprintf(why, DEVICE_WORDS, "libddsc_%s.so has an incompatible version", name);
        dlclose(plugin);
        return false;
    }
    memcpy(table, found, TABLE_SIZE[found->version]);
    return true;
}

static bool open_named(device *d, const char *name, char *why)
{
    char plugin[32];
    const char *colon = strchr(name, ':');
    int number = colon ? atoi(colon + 1) : 0;
    *d = (device){0};
    snprintf(plugin, sizeof plugin, "%.*s", (int)(colon ? colon - name : (ptrdiff_t)strlen(name)),
             name);
    snprintf(d->name, sizeof d->name, "%.20s:%d", plugin, number);
    if (!find_table(&d->table, plugin, why))
        return false;
    if (d->table.open(&d->state, number, &d->about, why) == 0)
        return true;
    d->state = NULL;
    return false;
}

bool device_open(ddsc_context *ctx, device *d, double work)
{
    char why[DEVICE_WORDS] = "";
    const char *name = ctx_device(ctx);
    bool chosen = strcmp(name, "auto") == 0;
    *d = (device){0};
    if (strcmp(name, "cpu") == 0 || (chosen && work < WORK_LEAST))
        return false;
    if (open_named(d, chosen ? "cuda" : name, why))
        return true;
    if (chosen)
        ctx_note(ctx, "device", "cpu", "%s", why);
    else
        device_fail(ctx, d, why);
    ctx_device_off(ctx);
    return false;
}

void device_close(device *d)
{
    if (d->state)
        d->table.close(d->state);
    d->state = NULL;
}

void device_fail(ddsc_context *ctx, const device *d, const char *why)
{
    ctx_warn(ctx, "device %s: %s; the CPU is used instead", d->name, why);
    ctx_note(ctx, "device", "cpu", "%s: %s", d->name, why);
    ctx_device_off(ctx);
}

int ddsc_device_find(const char *name, char *text, size_t size)
{
    char why[DEVICE_WORDS] = "no such device";
    device d = {0};
    bool plain = name && ctx_device_named(name) && strcmp(name, "cpu") != 0;
    bool there = plain && open_named(&d, strcmp(name, "auto") == 0 ? "cuda" : name, why);
    if (text && there)
        snprintf(text, size, "%s, %.0f GiB free", d.about.name, (double)d.about.memory * 0x1p-30);
    else if (text)
        snprintf(text, size, "%s", why);
    device_close(&d);
    return there;
}
