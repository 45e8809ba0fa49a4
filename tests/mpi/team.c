/* Tests the functions of an MPI team, with messages split into blocks of a few bytes. Run by
 * mpirun. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "ddsc_mpi.h"
#include "support.h"

static ddsc_team team;

static unsigned char byte_of(int from, int to, int64_t k)
{
    return (unsigned char)(17 * from + 5 * to + 3 * k);
}

/* Sizes from zero to many blocks. */
static int64_t size_of(int from, int to, int round)
{
    static const int64_t sizes[] = {0, 1, 7, 64, 65, 1000, 12345};
    return sizes[(from + 2 * to + round) % 7];
}

static void test_exchange(void **state)
{
    (void)state;
    for (int round = 0; round < 7; round++) {
        int64_t *out = calloc((size_t)team.size, sizeof *out),
                *in = calloc((size_t)team.size, sizeof *in);
        int64_t n_out = 0, n_in = 0;
        for (int r = 0; r < team.size; r++) {
            n_out += out[r] = size_of(team.rank, r, round);
            n_in += in[r] = size_of(r, team.rank, round);
        }
        unsigned char *send = malloc((size_t)n_out + 1), *got = malloc((size_t)n_in + 1);
        for (int64_t r = 0, at = 0; r < team.size; r++)
            for (int64_t k = 0; k < out[r]; k++)
                send[at++] = byte_of(team.rank, (int)r, k);
        assert_int_equal(team.exchange(team.state, send, out, got, in), 0);
        for (int64_t r = 0, at = 0; r < team.size; r++)
            for (int64_t k = 0; k < in[r]; k++)
                assert_int_equal(got[at++], byte_of((int)r, team.rank, k));
        free(send);
        free(got);
        free(out);
        free(in);
    }
}

static void test_gather(void **state)
{
    (void)state;
    for (int round = 0; round < 7; round++) {
        int64_t *bytes = calloc((size_t)team.size, sizeof *bytes), n = 0, at = 0;
        for (int r = 0; r < team.size; r++)
            n += bytes[r] = size_of(r, 0, round);
        unsigned char *data = calloc((size_t)n + 1, 1);
        for (int r = 0; r < team.size; r++)
            for (int64_t k = 0; k < bytes[r]; k++, at++)
                if (r == team.rank)
                    data[at] = byte_of(r, 0, k);
        assert_int_equal(team.gather(team.state, data, bytes), 0);
        at = 0;
        for (int r = 0; r < team.size; r++)
            for (int64_t k = 0; k < bytes[r]; k++)
                assert_int_equal(data[at++], byte_of(r, 0, k));
        free(data);
        free(bytes);
    }
}

static void test_scan_and_agree(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t value = ((int64_t)1 << 40) + team.rank, expected = 0;
    double all[N];
    for (int r = 0; r < team.rank; r++)
        expected += ((int64_t)1 << 40) + r;
    assert_int_equal(team.scan(team.state, &value), 0);
    assert_true(value == expected);
    for (int k = 0; k < N; k++)
        all[k] = k % team.size == team.rank ? k : -1;
    assert_int_equal(team.agree(team.state, all, N), 0);
    for (int k = 0; k < N; k++)
        assert_true(all[k] == k);
}

static void test_shared(void **state)
{
    (void)state;
    enum { N = 100000 };
    int32_t *one, *other;
    int first = 0, also = 0;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(team.share(team.state, (void **)&one, N * sizeof *one, &first), 0);
        assert_int_equal(team.share(team.state, (void **)&other, sizeof *other, &also), 0);
        assert_int_equal(first, also);
        for (int k = 0; first && k < N; k++) {
            assert_int_equal(one[k], 0);
            one[k] = k + round;
        }
        if (first)
            *other = -round;
        assert_int_equal(team.ready(team.state), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(one[k], k + round);
        assert_int_equal(*other, -round);
        team.unshare(team.state, round % 2 ? one : other);
        team.unshare(team.state, round % 2 ? other : one);
    }
}

/* A request for too much memory fails on all ranks, and a small one succeeds afterwards. */
static void test_no_capacity(void **state)
{
    (void)state;
    void *block = NULL;
    int first = 0;
    assert_int_not_equal(team.share(team.state, &block, (int64_t)1 << 50, &first), 0);
    assert_int_equal(team.share(team.state, &block, 100, &first), 0);
    team.unshare(team.state, block);
}

/* Pairs of ranks, as if a run used part of a job. */
static void test_part(void **state)
{
    (void)state;
    MPI_Comm part;
    ddsc_team some;
    MPI_Comm_split(MPI_COMM_WORLD, team.rank / 2, 0, &part);
    assert_int_equal(ddsc_team_create_mpi(&some, part), 0);
    double largest = team.rank;
    assert_int_equal(some.agree(some.state, &largest, 1), 0);
    assert_true(largest == (team.rank / 2 * 2 + 1 < team.size ? team.rank / 2 * 2 + 1 : team.rank));
    ddsc_team_destroy_mpi(&some);
    ddsc_team_destroy_mpi(&some);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    int provided;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange),       cmocka_unit_test(test_gather),
        cmocka_unit_test(test_scan_and_agree), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_no_capacity),    cmocka_unit_test(test_part),
    };
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (ddsc_team_create_mpi(&team, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (team.rank > 0 && !freopen("/dev/null", "w", stdout))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (cmocka_run_group_tests(tests, NULL, NULL) > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    ddsc_team_destroy_mpi(&team);
    MPI_Finalize();
    return 0;
}
