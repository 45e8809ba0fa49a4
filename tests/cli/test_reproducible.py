"""Same input, seed and version: the same bytes for any number of threads."""
import json
import os
import pathlib
import re

import pytest


def bytes_of(where):
    found = {path.name: path.read_bytes() for path in where.iterdir()}
    result = json.loads(found.pop("result.json"))
    del result["seconds"], result["threads"], result["command"]
    page = found["report.html"].decode()  # it contains the command and the time by stage
    page = re.sub(r"<h2>Command to reproduce this result</h2>\n<pre>.*?</pre>", "", page, flags=re.S)
    page = re.sub(r"<h2>Seconds by stage</h2>.*?</table>", "", page, flags=re.S)
    found["report.html"] = re.sub(r"<li><b>[^<]*</b>seconds</li>", "", page)
    return found, result


@pytest.mark.parametrize("words", [
    ["--metric", "w2"], ["--metric", "w2", "--exact-graph", "full"], ["--metric", "sinkhorn"],
    ["--metric", "mmd"], ["--metric", "lot"], ["--method", "sc"], ["--method", "kmeans"],
    ["--metric", "w2", "--sample", "0.6", "--compress", "5"]])
def test_threads_do_not_matter(ddsc, three_groups, tmp_path, words):
    k = "3" if "kmeans" in words else "2:4"
    for threads in (1, 2, 3):
        ddsc("cluster", three_groups, "-k", k, *words, "--threads", threads, "-q", "-o",
             tmp_path / str(threads))
    first = bytes_of(tmp_path / "1")
    assert bytes_of(tmp_path / "2") == first == bytes_of(tmp_path / "3")


@pytest.mark.parametrize("verb", ["distance", "neighbors", "embed", "convert"])
def test_other_verbs(ddsc, three_groups, verb):
    def run(threads):
        return ddsc(verb, three_groups, "--threads", threads, "-o", "-", "--seed", "3",
                    binary=True).stdout

    assert run(1) == run(2) == run(2)


def test_kernels_as_young_as_the_processor(ddsc, three_groups, tmp_path):
    """If OpenBLAS does not know the processor, it selects its slowest kernels. The program requests better ones, unless
    the user requested specific kernels."""
    flags = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    if "avx2" not in flags or "OPENBLAS_CORETYPE" in os.environ:
        pytest.skip("a processor without AVX2, or kernels chosen by the caller")
    run = ["neighbors", three_groups, "-o", tmp_path / "g.mtx", "-f"]
    told = ddsc(*run, env={"OPENBLAS_VERBOSE": "2"}).stderr
    cores = re.findall(r"Core: (\w+)", told)
    if not cores:
        pytest.skip("not OpenBLAS, or one that does not say its kernels")
    assert cores[-1] != "Prescott" and len(cores) <= 2
    asked = ddsc(*run, env={"OPENBLAS_VERBOSE": "2", "OPENBLAS_CORETYPE": "Prescott"}).stderr
    assert re.findall(r"Core: (\w+)", asked) == ["Prescott"]
