"""ddsc demo: the paper's shapes."""
import json
import xml.etree.ElementTree as xml

import pytest


def test_json(ddsc, tmp_path):
    data = json.loads(ddsc("demo", "--json", cwd=tmp_path).stdout)
    scores = {method["name"]: method["ami"] for method in data["methods"]}
    assert list(scores) == ["w2", "sinkhorn", "mmd", "lot", "kmeans", "sc", "d2", "pd2"]
    assert [scores[name] for name in ("w2", "sinkhorn", "mmd", "lot")] == [pytest.approx(1)] * 4
    assert max(scores[name] for name in ("kmeans", "sc", "d2", "pd2")) < 0.5
    assert (tmp_path / data["report"]).exists() and (tmp_path / data["picture"]).exists()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds(ddsc, tmp_path, seed):
    data = json.loads(ddsc("demo", "--json", "--seed", seed, cwd=tmp_path).stdout)
    assert all(m["ami"] > 0.999 for m in data["methods"] if not m["baseline"])


def test_table_and_files(ddsc, tmp_path):
    for _ in range(2):  # the default directory may be rewritten
        text = ddsc("demo", cwd=tmp_path).stdout
        assert "report: ddsc-demo/report.html" in text and text.count("1.0000") >= 4
    page = (tmp_path / "ddsc-demo" / "report.html").read_text()
    assert "<svg" in page and "src=" not in page and "<script" not in page
    picture = xml.parse(tmp_path / "ddsc-demo" / "shapes.svg").getroot()
    assert len(picture.findall(".//{*}use")) == 9 * 40
    assert {p.name for p in (tmp_path / "ddsc-demo").iterdir()} == {"report.html", "shapes.svg"}


def test_a_directory_of_your_own_is_not_rewritten(ddsc, tmp_path):
    ddsc("demo", "-o", tmp_path / "d")
    ddsc("demo", "-o", tmp_path / "d", code=2)
    ddsc("demo", "-o", tmp_path / "d", "--force")
