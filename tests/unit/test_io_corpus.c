/* Runs the readers once on the seed corpora of the fuzz targets. */
#include "io_support.h"

#include "../../fuzz/reader.h"

static void run_file(const char *format, const char *folder, const char *name)
{
    char path[TEST_PATH];
    size_t n;
    snprintf(path, sizeof path, "%.2000s/%.1000s", folder, name);
    char *bytes = file_bytes(path, &n);
    uint8_t *exact = malloc(n + !n); /* no byte after the end, so that reads past it are detected */
    memcpy(exact, bytes, n);
    fuzz_reader(format, exact, n);
    free(exact);
    free(bytes);
}

static void test_corpora(void **state)
{
    (void)state;
    static const char *const formats[] = {"npz",   "npy",    "csv",   "idx",  "d2",   "fcs",
                                          "mtx",   "labels", "vocab", "hist", "text", "vectors",
                                          "model", "image",  "cloud", "h5ad", "meta", "diff"};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        char folder[TEST_PATH];
        snprintf(folder, sizeof folder, "%s/fuzz/corpus/%s", DDSC_SOURCE_DIR, formats[k]);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        int n = 0;
        for (struct dirent *e = readdir(dir); e; e = readdir(dir))
            if (e->d_name[0] != '.') {
                run_file(formats[k], folder, e->d_name);
                n++;
            }
        closedir(dir);
        assert_true(n > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpora)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
