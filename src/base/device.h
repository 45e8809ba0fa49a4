/* device: plug-ins found and opened by name. What cannot be used is no error: the processor does the
 * work, and one warning says so. */
#ifndef DDSC_BASE_DEVICE_H
#define DDSC_BASE_DEVICE_H

#include "base/base.h"
#include "base/device_table.h"

typedef struct device {
    device_table table; /* functions that the plug-in is too old for are NULL */
    void *state;        /* NULL: closed */
    device_about about;
    char name[32]; /* "cuda:0" */
} device;

/* The device that the context asks for; false: the processor. `work`: multiplications in question; "auto"
 * would need many, but means the CPU in this version. */
bool device_open(ddsc_context *ctx, device *d, double work);
void device_close(device *d);
/* It failed: said once, and not asked again. */
void device_fail(ddsc_context *ctx, const device *d, const char *why);

#endif
