/* One folder for all tests of a program: cmocka_run_group_tests(tests, set_up, tear_down). */
#ifndef DDSC_TEST_FOLDER_FIXTURE_H
#define DDSC_TEST_FOLDER_FIXTURE_H

#include "io_support.h"

static test_folder scratch_folder;

static int set_up(void **state)
{
    (void)state;
    folder_make(&scratch_folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&scratch_folder);
    return 0;
}

#endif
