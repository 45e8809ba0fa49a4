"""The command reference, made from the manual page that the program prints from its own tables."""

import re


def plain(text):
    """Marks of roff as those of Markdown."""
    text = text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    return re.sub(r"\\f[BI](.*?)\\fR", r"\1", text)


def shown(text):
    """Text in which nothing is taken for a mark."""
    return re.sub(r"([\\`*_<>\[\]{}$|#~])", r"\\\1", plain(text))


def page(roff_lines, title, usage=True):
    """One section of the manual as Markdown; its first line is how the verb is called, if `usage`."""
    out, state = [f"# {title}", ""], "usage" if usage else "text"
    for line in roff_lines:
        if line.startswith(".SS "):
            out += ["", "## " + shown(line[4:].strip('"')), ""]
        elif line == ".TP":
            state = "term"
        elif line in (".PP", ".br"):
            out.append("")
        elif state == "usage":
            out += ["```text", plain(line), "```", ""]
            state = "text"
        elif state == "term":
            out.append(f"`{plain(line)}`")
            state = "definition"
        elif state == "definition":
            out += [f": {shown(line)}", ""]
            state = "text"
        else:
            out += [shown(line), ""]
    return "\n".join(out) + "\n"


def pages(manual):
    """{file name: text} of the whole manual."""
    sections, name = {}, None
    for line in manual.split("\n"):
        if line.startswith(".SH "):
            name = line[4:].strip('"')
            sections[name] = []
        elif name is not None and line and not line.startswith(".TH"):
            sections[name].append(line)
    verbs = [name[5:] for name in sections if name.startswith("DDSC ")]
    made = {f"{verb}.md": page(sections[f"DDSC {verb}"], f"ddsc {verb}") for verb in verbs}
    about = dict(zip((plain(n) for n in sections["VERBS"][1::3]), sections["VERBS"][2::3]))
    index = ["# Command reference", ""]
    index += ["Made from the tables of the program itself; `ddsc VERB --help` and `man ddsc` say the same.", ""]
    index += [" ".join(shown(line) for line in sections["DESCRIPTION"]), "", "| verb | |", "|---|---|"]
    index += [f"| [ddsc {verb}]({verb}.md) | {shown(about[verb])} |" for verb in verbs]
    for name in ("FILES", "EXIT STATUS", "ENVIRONMENT"):
        index += ["", "#" + page(sections[name], name.capitalize(), usage=False)]
    index += ["", "```{toctree}", ":hidden:", *verbs, "```"]
    made["index.md"] = "\n".join(index) + "\n"
    return made
