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
