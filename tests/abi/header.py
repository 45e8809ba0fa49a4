"""Parses the structs with their fields and the enumerators of the public header, for the tests in tests/abi.

    header.py make OUT       write OUT/old/ddsc/ddsc.h and OUT/new/ddsc/ddsc.h, see below
    header.py check CC       compare the layout of the current header with layout.txt: nothing may move
    header.py write CC       write layout.txt again (before a release that adds fields)

In the older header, every struct is truncated: structs with a struct_size to their first version, which the library
names in SIZED_INIT, and views and rows by their last declaration. In the newer header, every struct is longer. abi.c is
compiled against both headers and run with the current library.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADER = ROOT / "include" / "ddsc" / "ddsc.h"
LAYOUT = HERE / "layout.txt"
# Elements of arrays: these never change.
FROZEN = {"ddsc_cloud", "ddsc_detail", "ddsc_k_candidate", "ddsc_merge", "ddsc_report_setting", "ddsc_mark",
          "ddsc_column", "ddsc_permanova_missing", "ddsc_update_setting"}
STRUCT = re.compile(r"typedef struct (ddsc_\w+) \{\n(.*?)\n\} \1;", re.S)


def blank_comments(text):
    """Replace comments with spaces, so that positions do not change. An anonymous union holds two names of one field,
    so its braces are also replaced with spaces."""
    plain = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"union \{([^{}]*)\};", lambda m: " " * 7 + m.group(1) + "  ", plain)


def declarations(body):
    """Yield (names, start, end) of each declaration in the body of a struct."""
    found, start = [], 0
    for end in (m.end() for m in re.finditer(";", body)):
        words = body[start:end - 1]
        pointer = re.search(r"\(\*(\w+)\)", words)
        names = [pointer.group(1)] if pointer else [
            re.search(r"(\w+)\s*(\[\w+\])*\s*$", part).group(1) for part in words.split(",")]
        found.append((names, start, end))
        start = end
    return found


def structs(text):
    """Return {name: (start of the body, declarations)} for all structs except the frozen ones."""
    plain = blank_comments(text)
    return {m.group(1): (m.start(2), declarations(m.group(2))) for m in STRUCT.finditer(plain)
            if m.group(1) not in FROZEN}


def enumerators(text):
    plain = blank_comments(text)
    return [name for body in re.findall(r"enum(?: \w+)? \{(.*?)\}", plain, re.S)
            for name in re.findall(r"\b(DDSC_\w+)\b", body)]


def first_versions():
    """Return {struct: last field of its first version}, from the sources."""
    text = "".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.c")))
    return dict(re.findall(r"SIZED_INIT\(\w+,\s*(ddsc_\w+),\s*(\w+)", text))


def older(text):
    first = first_versions()
    for name, (at, fields) in reversed(structs(text).items()):
        sized = fields[0][0] == ["struct_size"]
        if sized and name not in first:
            sys.exit(f"{name} has a struct_size, but there is no SIZED_INIT(..., {name}, ...)")
        last = next(i for i, f in enumerate(fields) if first[name] in f[0]) if sized else len(fields) - 2
        text = text[:at + fields[last][2]] + text[at + fields[-1][2]:]
    return text


def newer(text):
    for name, (at, fields) in reversed(structs(text).items()):
        end = at + fields[-1][2]
        text = text[:end] + "\n    int64_t added_later[3];" + text[end:]
    return text


def make(out):
    text = HEADER.read_text()
    for kind, change in (("old", older), ("new", newer)):
        path = pathlib.Path(out) / kind / "ddsc" / "ddsc.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change(text))


def layout(compiler):
    """Return the lines "struct size", "struct.field offset size" and "ENUMERATOR value"."""
    text = HEADER.read_text()
    lines = ["#include <stdio.h>", "#include <ddsc/ddsc.h>", "int main(void) {"]
    for name, (_, fields) in structs(text).items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{f} %zu %zu\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));'
                  for names, _, _ in fields for f in names]
    lines += [f'printf("{e} %lld\\n", (long long){e});' for e in enumerators(text)]
    lines.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.c"
        source.write_text("\n".join(lines))
        program = source.with_suffix("")
        subprocess.run([compiler, "-std=c17", "-I", HEADER.parent.parent, source, "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def compare(then, now):
    """Return the incompatible changes since `then`. A new field must come after all earlier fields of its struct."""
    size = {words[0]: int(words[1]) for words in map(str.split, then) if "." not in words[0]}
    there = {line.split()[0]: line for line in now}
    known = {line.split()[0] for line in then}
    for line in then:
        name = line.split()[0]
        if "." not in name and name in there and not name.startswith("DDSC_"):
            continue  # a struct may grow
        if there.get(name) != line:
            yield f"{line}: now {there.get(name, 'gone')}"
    for name, line in there.items():
        struct = name.split(".")[0]
        second_name = any(old.split(".")[0] == struct and old.split()[1:] == line.split()[1:] for old in then if "." in old)
        if name not in known and "." in name and struct in size and int(line.split()[1]) < size[struct] and not second_name:
            yield f"{line}: lies within the {size[struct]} bytes that {struct} had"


def check(compiler):
    text = HEADER.read_text()
    broken = list(compare(LAYOUT.read_text().splitlines(), layout(compiler)))
    program = (HERE / "abi.c").read_text()
    for name, (_, fields) in structs(text).items():
        if not re.search(rf"\b{name[5:]}\b", program):
            broken.append(f"{name}: abi.c does not try it")
        if fields[0][0] == ["struct_size"] and not re.search(rf"void\s+{name}_init_sized\(", text):
            broken.append(f"{name}: has no _init_sized")
    for line in broken:
        print(line)
    print(f"layout of {len(structs(text))} structs: {len(broken)} breaches")
    return 1 if broken else 0


if __name__ == "__main__":
    what, argument = sys.argv[1:]
    if what == "make":
        make(argument)
    elif what == "write":
        LAYOUT.write_text("\n".join(layout(argument)) + "\n")
    else:
        sys.exit(check(argument))
