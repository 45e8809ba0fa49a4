"""Generates the C reference from include/ddsc/ddsc.h. Comments become text, and declarations become entries.

In the header, a comment that begins at the left margin belongs to the declarations that follow it without a blank
line. Sections begin with a line /* ==== Section ==== */.
"""

import re

SUBJECT = re.compile(r"/\* (?:====|----) (.*?) (?:====|----) \*/$")
NAME = re.compile(r"\bddsc_[a-z0-9_]*[a-z0-9]\b|\bDDSC_[A-Z0-9_]*[A-Z0-9]\b")


def units(lines):
    """Yield (kind, text) for each comment, declaration, macro, section title and blank line."""
    at = 0
    while at < len(lines):
        begin, line = at, lines[at]
        subject = SUBJECT.match(line)
        if subject:
            kind = "subject" if "====" in line else "part"
            yield kind, subject.group(1)
        elif not line.strip():
            yield "blank", ""
        elif line.startswith("/*"):
            while "*/" not in lines[at]:
                at += 1
            yield "comment", "\n".join(lines[begin : at + 1])
        elif line.startswith("#define"):
            while lines[at].endswith("\\"):
                at += 1
            yield "macro", "\n".join(lines[begin : at + 1])
        elif line.startswith("#"):
            pass
        else:
            depth = 0
            while True:
                code = re.sub(r"/\*.*?\*/", "", lines[at])
                depth += code.count("{") - code.count("}")
                if depth == 0 and ";" in code:
                    break
                at += 1
            yield "declaration", "\n".join(lines[begin : at + 1])
        at += 1


def prose(comment, functions, types):
    """Convert a comment to reStructuredText."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment)
    lines = [re.sub(r"^ \* ?", "", line) if i else line for i, line in enumerate(body.split("\n"))]

    def name(word):
        if word in functions:
            return f":c:func:`{word}`"
        return f":c:type:`{word}`" if word in types else f"``{word}``"

    def marked(text):
        """Convert names to links and `words` to literals, and escape all other markup."""
        out = []
        for k, piece in enumerate(re.split(f"(`[^`]+`|{NAME.pattern})", text)):
            if k % 2:
                out.append(f"`{piece}`" if piece.startswith("`") else name(piece))
            else:
                glued = k and piece and re.match(r"[\w(*]", piece)
                out.append(("\\ " if glued else "") + re.sub(r"([\\*_|`])", r"\\\1", piece))
        return "".join(out)

    made, literal = [], False
    for line in lines:
        if line.startswith("    ") and line.strip():
            if not literal:
                made += ["", "::", ""]
            literal = True
            made.append("    " + line)
            continue
        if literal:
            made.append("")
        literal = False
        line = re.sub(r"^ (?=- |  )", "", line)
        if line.startswith("- ") and made and not made[-1].startswith(("- ", "  ")):
            made.append("")
        made.append(marked(line))
    return "\n".join(made).strip("\n")


def indented(text):
    return "\n".join("   " + line if line else "" for line in text.split("\n"))


def signature(text):
    """Return a declaration on one line, without its macros and its semicolon."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\b(DDSC_API|DDSC_EXPERIMENTAL)\b", "", text)
    return re.sub(r"\s+", " ", text).strip().rstrip(";").strip()


def entry(kind, text):
    """Return (directive, name, signature, whether to show the code)."""
    if kind == "macro":
        call = re.match(r"#define (\w+)(\([^)]*\))?", text)
        return "c:macro", call.group(1), call.group(1) + (call.group(2) or ""), False
    if text.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)", text)
        if pointer and "{" not in text:
            return "c:type", pointer.group(1), signature(text)[len("typedef ") :], False
        named = re.search(r"(\w+);\s*(?:/\*.*\*/)?\s*$", text).group(1)
        return "c:type", named, named, "{" in text
    if "DDSC_API" in text:
        short = signature(text)
        return "c:function", re.search(r"(\w+)\(", short).group(1), short, False
    return None, None, None, True


def page(header):
    lines = header.split("\n")
    head = next(i for i, line in enumerate(lines) if line.startswith("#ifndef"))
    start = next(i for i, line in enumerate(lines) if SUBJECT.match(line))
    end = max(i for i, line in enumerate(lines) if "__cplusplus" in line)
    found = list(units(lines[start:end]))
    entries = [entry(kind, text) for kind, text in found if kind in ("macro", "declaration")]
    functions = {name for directive, name, _, _ in entries if directive in ("c:function", "c:macro")}
    types = {name for directive, name, _, _ in entries if directive == "c:type"}

    title = "C reference"
    out = [title, "=" * len(title), "", "Generated from the header ``ddsc/ddsc.h``.", ""]
    out += [prose("\n".join(lines[:head]), functions, types), ""]
    comment, signatures = None, []

    def flush():
        nonlocal comment, signatures
        if comment and not signatures:
            out.extend([comment, ""])
        elif signatures:
            directive, experimental = signatures[0][0], any(s[2] for s in signatures)
            lead = f".. {directive}:: "
            out.append(lead + ("\n" + " " * len(lead)).join(s[1] for s in signatures))
            out.append("")
            if experimental:
                out.extend(["   *Experimental.*", ""])
            if comment:
                out.extend([indented(comment), ""])
        comment, signatures = None, []

    for kind, text in found:
        if kind in ("subject", "part"):
            flush()
            name = text[0].upper() + text[1:]
            out.extend([name, ("-" if kind == "subject" else "~") * len(name), ""])
        elif kind == "blank":
            flush()
        elif kind == "comment":
            flush()
            comment = prose(text, functions, types)
        else:
            directive, name, short, shown = entry(kind, text)
            if shown or directive is None:
                block = [".. code-block:: c", "", indented(text), ""]
                if directive is None:
                    flush()
                    out.extend(block)
                    continue
                if signatures:
                    flush()
                signatures = [(directive, short, False)]
                flush()
                out.extend([indented("\n".join(block)), ""])
                continue
            if signatures and signatures[0][0] != directive:
                flush()
            signatures.append((directive, short, "DDSC_EXPERIMENTAL" in text))
    flush()
    return "\n".join(out) + "\n"
