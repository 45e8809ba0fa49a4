/* Finds and opens device plug-ins by name. A device that cannot be used is not an error: the CPU
 * does the work, and one warning is issued. */
#ifndef DDSC_BASE_DEVICE_H
#define DDSC_BASE_DEVICE_H

#include "base/base.h"
#include "base/device_table.h"

typedef struct device {
    device_table table; /* functions that the plug-in lacks are NULL */
    void *state;        /* NULL: closed */
    device_about about;
    char name[32]; /* "cuda:0" */
} device;

/* Opens the device that the context requests. Returns false if the CPU must be used. `work` is the
 * number of multiplications; with "auto", the CPU is used if `work` is below WORK_LEAST. */
bool device_open(ddsc_context *ctx, device *d, double work);
void device_close(device *d);
/* Reports the failure of a device once, and disables it for the context. */
void device_fail(ddsc_context *ctx, const device *d, const char *why);

#endif
