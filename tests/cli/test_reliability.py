"""The tests listed in tests/README.md exist."""
import re


def test_named_tests_exist(source):
    text = (source / "tests" / "README.md").read_text()
    named = re.findall(r"`((?:\w+/)+\w+\.(?:c|py|sh))`(?: \(([\w, ]+)\))?", text)
    assert len(named) > 20
    for path, tests in named:
        file = source / "tests" / path
        file = file if file.exists() else source / path
        content = file.read_text()
        for test in filter(None, re.split(r",\s*", tests)):
            assert re.search(rf"\b{test}\(", content), f"{path} has no {test}"
