"""Generates the command reference from the manual page that the program prints."""

import re


def plain(text):
    """Convert roff markup to Markdown."""
    text = text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    return re.sub(r"\\f[BI](.*?)\\fR", r"\1", text)


def shown(text):
    """Escape all Markdown markup in a text."""
    return re.sub(r"([\\`*_<>\[\]{}$|#~])", r"\\\1", plain(text))


def page(roff_lines, title, usage=True):
    """Return one section of the manual as Markdown. If `usage` is true, the first line of the section is the usage of
    the verb."""
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
    """Return the pages of the whole manual as {file name: text}."""
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
    index += ["Generated from the option tables of the program, as `ddsc VERB --help` and `man ddsc` are.", ""]
    index += [" ".join(shown(line) for line in sections["DESCRIPTION"]), "", "| verb | |", "|---|---|"]
    index += [f"| [ddsc {verb}]({verb}.md) | {shown(about[verb])} |" for verb in verbs]
    for name in ("FILES", "EXIT STATUS", "ENVIRONMENT"):
        index += ["", "#" + page(sections[name], name.capitalize(), usage=False)]
    index += ["", "```{toctree}", ":hidden:", *verbs, "```"]
    made["index.md"] = "\n".join(index) + "\n"
    return made
