"""ctest shows a test as skipped if all of its cases were, and never hides one that failed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

PYTEST = {
    "all": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass\n", "Skipped"),
    "module": ("import pytest\npytest.importorskip('no_such_module')\ndef test_a(): pass\n", "Skipped"),
    "warning": ("import pytest\n@pytest.mark.no_such_mark\n@pytest.mark.skip\ndef test_a(): pass\n", "Skipped"),
    "some": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\ndef test_b(): pass\n", "Passed"),
    "failed": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\ndef test_b(): assert False\n", "Failed"),
    "error": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\ndef test_b(missing): pass\n", "Failed"),
}
CMOCKA = {"skip(); skip();": "Skipped", "skip();": "Skipped", "pass(); skip();": "Passed", "skip(); pass();": "Passed",
          "skip(); fail();": "Failed", "fail(); skip();": "Failed", "pass(); skip(); fail();": "Failed"}
SOURCE = """
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
static const char *todo;
static void run(void **state)
{
    const char *word = todo;
    (void)state;
    todo += strcspn(todo, ";") + 1;
    todo += strspn(todo, " ");
    if (word[0] == 's')
        skip();
    assert_int_not_equal(word[0], 'f');
}
int main(int argc, char **argv)
{
    struct CMUnitTest tests[8];
    size_t n = 0;
    for (const char *c = todo = argv[1]; *c; c++)
        if (*c == ';')
            tests[n++] = (struct CMUnitTest)cmocka_unit_test(run);
    return argc != 2 || _cmocka_run_group_tests("all", tests, n, NULL, NULL);
}
"""


@pytest.fixture(scope="module")
def shown(program, tmp_path_factory):
    """Return what ctest shows for each command, with the properties of the tests in this build."""
    build = pathlib.Path(os.environ.get("DDSC_BUILD", pathlib.Path(program).parent))
    listed = build / "tests" / "CTestTestfile.cmake"
    if not listed.exists() or not shutil.which("ctest"):
        pytest.skip("no tests of ctest in this build")
    rule = re.search(r'SKIP_REGULAR_EXPRESSION ("(?:[^"\\]|\\.)*") SKIP_RETURN_CODE ("\d+")', listed.read_text())

    def run(commands):
        folder = tmp_path_factory.mktemp("ctest")
        lines = []
        for name, command in commands.items():
            quoted = " ".join(f"[==[{word}]==]" for word in command)
            lines.append(f"add_test({name} {quoted})\nset_tests_properties({name} PROPERTIES "
                         f"SKIP_REGULAR_EXPRESSION {rule[1]} SKIP_RETURN_CODE {rule[2]})\n")
        (folder / "CTestTestfile.cmake").write_text("".join(lines))
        said = subprocess.run(["ctest"], cwd=folder, capture_output=True, text=True).stdout
        return dict(re.findall(r": (\w+) \.+\s*\**(\w+)", said))

    return run


def test_python(shown, tmp_path):
    commands = {"code": ["sh", "-c", "exit 77"]}
    for name, (source, _) in PYTEST.items():
        (tmp_path / f"test_{name}.py").write_text(source)
        commands[name] = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs",
                          str(tmp_path / f"test_{name}.py")]
    assert shown(commands) == {"code": "Skipped", **{name: wanted for name, (_, wanted) in PYTEST.items()}}


def test_c(shown, tmp_path):
    (tmp_path / "run.c").write_text(SOURCE)
    if not shutil.which("cc") or subprocess.run(["cc", "-o", tmp_path / "run", tmp_path / "run.c", "-lcmocka"]).returncode:
        pytest.skip("no compiler or no cmocka here")
    commands = {f"c{k}": [str(tmp_path / "run"), words] for k, words in enumerate(CMOCKA)}
    assert shown(commands) == {f"c{k}": wanted for k, wanted in enumerate(CMOCKA.values())}
