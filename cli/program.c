/* The main function of the program ddsc, which runs as a single process. */
#include "cli.h"

int main(int argc, char **argv)
{
    if (argc > 1 && verb_find(argv[1]))
        choose_kernels(argv);
    return cli_main(argc, argv, NULL);
}
