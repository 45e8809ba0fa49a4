"""Programs of several ranks: the calls of a team, and the zoo of spectra."""
import pytest

from conftest import BUILD


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_team(ranks, n):
    ranks(n, program=str(BUILD / "tests" / "mpi_team"))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_zoo(ranks, n):
    ranks(n, program=str(BUILD / "tests" / "mpi_zoo"))


def test_the_zoo_sees_a_second_look_left_out(ranks):
    """Built without it, the solver is fooled by six identical components, and the test says so."""
    for n in (1, 2, 4):
        blind = ranks(n, "test_twins", program=str(BUILD / "tests" / "mpi_zoo_blind"), code=1)
        assert "test_twins" in blind.out + blind.err


@pytest.mark.parametrize("n", [2, 3])
def test_planted_groups(ranks, n):
    """Affinity, operator and vectors by rows of their own: the groups are found, and the vectors verified."""
    job = ranks(n, "3000", "5", "12", "1", "3", program=str(BUILD / "tests" / "mpi_spectral"))
    *_, residual, verified, agreement = job.out.split()
    assert float(residual) < 1e-7 and verified == "1" and float(agreement) == 1
