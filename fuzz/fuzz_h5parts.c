/* Runs the h5ad reader on files that libhdf5 itself writes, with contents chosen by the input: a
 * dense, csr or csc matrix, names as texts of either kind, numbers or categories, and lengths and
 * codes that match or do not. Damaged files are not useful here, because libhdf5 crashes on some of
 * them before the reader is called (docs/notes/dependencies.md). */
#include <math.h>

#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef DDSC_HAVE_HDF5
#define H5_USE_110_API
#include <hdf5.h>

enum { SIDE = 6 };

typedef struct chooser {
    const uint8_t *at;
    size_t left;
} chooser;

static unsigned take(chooser *c, unsigned below)
{
    if (c->left == 0)
        return 0;
    c->left--;
    return *c->at++ % below;
}

/* Returns the matching length in most cases. */
static hsize_t take_length(chooser *c, hsize_t fits)
{
    return take(c, 8) ? fits : take(c, 2 * SIDE);
}

static void put_text_attribute(hid_t on, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 1);
    hid_t a = H5Acreate2(on, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) {
        H5Awrite(a, type, text);
        H5Aclose(a);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static void put_numbers(chooser *c, hid_t in, const char *name, int axes, const hsize_t *shape)
{
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I32LE, H5T_STD_I8LE,
                           H5T_STD_U64BE};
    double values[4 * SIDE * SIDE];
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        unsigned v = take(c, 256);
        values[k] = v == 255 ? NAN : v == 254 ? 1e300 : (double)v / 2 - 1;
    }
    hid_t space = H5Screate_simple(axes, shape, NULL);
    hid_t table =
        H5Dcreate2(in, name, types[take(c, 5)], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (table >= 0) {
        H5Dwrite(table, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(table);
    }
    H5Sclose(space);
}

static void put_texts(chooser *c, hid_t in, const char *name, hsize_t n)
{
    static const char *const words[] = {"a",     "b",       "",  "caf\xc3\xa9",
                                        "x\xff", "a,\"b\"", "1", "nan"};
    bool fixed = take(c, 3) == 0;
    const char *text[4 * SIDE];
    char block[4 * SIDE][8];
    memset(block, 0, sizeof block);
    for (hsize_t i = 0; i < n && i < 4 * SIDE; i++) {
        text[i] = words[take(c, 8)];
        memcpy(block[i], text[i], strlen(text[i]));
    }
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, NULL);
    H5Tset_size(type, fixed ? 8 : H5T_VARIABLE);
    hid_t table = H5Dcreate2(in, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (table >= 0) {
        H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, fixed ? (void *)block : (void *)text);
        H5Dclose(table);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* Writes a column about rows. */
static void put_column(chooser *c, hid_t in, const char *name, hsize_t rows)
{
    hsize_t n = take_length(c, rows);
    unsigned kind = take(c, 4);
    if (kind < 2) {
        if (kind == 0)
            put_texts(c, in, name, n);
        else
            put_numbers(c, in, name, 1, &n);
        return;
    }
    hid_t folder = H5Gcreate2(in, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (folder < 0)
        return;
    put_text_attribute(folder, "encoding-type", kind == 2 ? "categorical" : "nullable-integer");
    put_texts(c, folder, kind == 2 ? "categories" : "values", take_length(c, kind == 2 ? 3 : rows));
    put_numbers(c, folder, kind == 2 ? "codes" : "mask", 1, &n);
    H5Gclose(folder);
}

static void put_matrix(chooser *c, hid_t file, hsize_t rows, hsize_t columns)
{
    hsize_t shape[2] = {rows, columns}, entries = take(c, 3 * SIDE);
    unsigned kind = take(c, 3);
    if (kind == 0) {
        put_numbers(c, file, "X", 1 + (int)take(c, 2), shape);
        return;
    }
    hid_t folder = H5Gcreate2(file, "X", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t ends = take_length(c, (kind == 1 ? rows : columns) + 1), two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    int64_t told[2] = {(int64_t)take_length(c, rows), (int64_t)take_length(c, columns)};
    put_text_attribute(folder, "encoding-type", kind == 1 ? "csr_matrix" : "csc_matrix");
    hid_t a = H5Acreate2(folder, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) {
        H5Awrite(a, H5T_NATIVE_INT64, told);
        H5Aclose(a);
    }
    H5Sclose(space);
    put_numbers(c, folder, "data", 1, &entries);
    entries = take_length(c, entries);
    put_numbers(c, folder, "indices", 1, &entries);
    put_numbers(c, folder, "indptr", 1, &ends);
    H5Gclose(folder);
}

static void put_folder(chooser *c, hid_t file, const char *name, hsize_t n)
{
    hid_t folder = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_text_attribute(folder, "_index", take(c, 8) ? "_index" : "sample");
    put_column(c, folder, "_index", n);
    put_column(c, folder, "sample", n);
    put_column(c, folder, "batch", n);
    H5Gclose(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chooser c = {data, size};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t memory = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(memory, 1 << 16, false);
    hid_t file = H5Fcreate("h5parts", H5F_ACC_TRUNC, H5P_DEFAULT, memory);
    hsize_t rows = 1 + take(&c, SIDE), columns = 1 + take(&c, SIDE);
    put_matrix(&c, file, rows, columns);
    put_folder(&c, file, "obs", rows);
    put_folder(&c, file, "var", columns);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t n = H5Fget_file_image(file, NULL, 0);
    uint8_t *image = n > 0 ? malloc((size_t)n) : NULL;
    if (image && H5Fget_file_image(file, image, (size_t)n) == n)
        fuzz_reader("h5ad", image, (size_t)n);
    free(image);
    H5Fclose(file);
    H5Pclose(memory);
    return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}
#endif
