#!/usr/bin/env python3
"""Makes the man pages: section 3 from the comments of include/jitdump.h, so that they can't differ,
jitdump(1) from docs/tool.md, jitdump(5) from docs/format.md, jitdump-troubleshooting(7).

    python3 src/packaging/man_pages.py FOLDER [DATE]

writes FOLDER/man1 to man7. DATE, as in 2026-11-22, is the pages' own; without it, that of the
newest version in docs/changelog.md. Needs lowdown, which makes man pages of Markdown.
"""
import pathlib
import re
import subprocess
import sys
import textwrap
from typing import List, NamedTuple, Tuple

PROJECT = pathlib.Path(__file__).resolve().parents[2]
LINE_LENGTH = 79  # mandoc complains of more than 80

TOOL_NAME = "shows, checks and converts the jitdump files of just-in-time compilers"
TOOL_SYNOPSIS = ["jitdump *command* [*option* ...] *file* ...", "jitdump [*command*] --help"]
FORMAT_NAME = "the file in which a just-in-time compiler describes its code"
TROUBLESHOOTING_NAME = "what to do when a profile of generated code is not as it should be"
SEE_ALSO = ["jitdump(1)", "jitdump(3)", "jitdump(5)", "jitdump-troubleshooting(7)"]
PAGES = {"tool.md": "jitdump(1)", "format.md": "jitdump(5)", "troubleshooting.md": "jitdump-troubleshooting(7)"}
OTHER_PAGES = "What is called NAME.md here is a page of docs/ in the sources; Debian's libjitdump-dev has them too."


class Item(NamedTuple):
    """A comment of the header, and what it stands before: nothing, if it is a section's."""
    comment: str
    declaration: str

    def name(self) -> str:
        match = (re.match(r"(?:struct|enum) (\w+)\s*[{;]", self.declaration)
                 or re.search(r"\b(jitdump_\w+)\(", self.declaration)
                 or re.match(r"#define (\w+)", self.declaration))
        return match[1] if match else ""

    def is_function(self) -> bool:
        return self.declaration.startswith("JITDUMP_API")

    def has_page(self) -> bool:
        return self.is_function() or "{" in self.declaration


def comment_text(lines: List[str]) -> str:
    """The text between a comment's marks."""
    text = [re.sub(r"^\s*(/\*+|\*/|\* ?)", "", line) for line in lines]
    return "\n".join(re.sub(r"\s*\*/\s*$", "", line).rstrip() for line in text).strip("\n ")


def header_items(header: str) -> List[Item]:
    """The header's outermost comments and declarations, in order."""
    items: List[Item] = []
    comment, declaration, pending = "", [], []
    for line in header.splitlines():
        if pending or not declaration and line.startswith("/*"):
            if comment and not pending:
                items.append(Item(comment, ""))
            pending.append(line)
            if "*/" in line:
                comment, pending = comment_text(pending), []
        elif declaration or line.startswith(("struct", "enum", "JITDUMP_API", "#define JITDUMP_")):
            declaration.append(line)
            open_braces = "\n".join(declaration).count("{") - "\n".join(declaration).count("}")
            if open_braces == 0 and (line.endswith(";") or line.startswith("#")):
                items.append(Item(comment, "\n".join(declaration)))
                comment, declaration = "", []
    return items


def members(declaration: str) -> List[Tuple[str, str]]:
    """A struct's fields or an enum's constants, each with its comment."""
    found: List[Tuple[str, str]] = []
    comment: List[str] = []
    text = ""
    for line in declaration.splitlines()[1:-1]:
        stripped = line.strip()
        if not stripped:
            continue
        if stripped.startswith("/*") or comment and "*/" not in comment[-1]:
            if not comment or "*/" in comment[-1]:
                comment = []
            comment.append(line)
            text = comment_text(comment)
            continue
        match = re.match(r"(.*?)[;,]?\s*(?:/\*\s*(.*?)\s*\*/)?$", stripped)
        assert match
        found.append((match[1], "\n".join(part for part in (text, match[2]) if part)))
        comment, text = [], ""
    return found


def escape(text: str) -> str:
    """Running text of the header as Markdown, in which stars, brackets and underscores are plain."""
    parts = re.split(r"(`[^`\n]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#|^])", r"\\\1", part)
                   for part in parts)


def markdown(comment: str) -> str:
    """A comment as Markdown: its lists and indented blocks are that already. An indented line after
    one of running text begins a block too."""
    lines: List[str] = []
    was_block, in_list = False, False
    for line in textwrap.dedent(comment).splitlines():
        is_list = line.startswith("- ")
        in_list = is_list or in_list and (line.startswith("  ") or not line)
        is_block = line.startswith("    ") and not in_list
        if lines and lines[-1] and (is_block != was_block or is_list and not lines[-1].startswith("  ")
                                    and not lines[-1].startswith("- ")):
            lines.append("")
        lines.append(line if is_block else escape(line))
        was_block = is_block
    return "\n".join(lines)


def sections_of_function(comment: str) -> str:
    """What the errors' paragraphs say stands under a heading of its own."""
    paragraphs = re.split(r"\n\n+", comment)
    errors = next((i for i, text in enumerate(paragraphs) if text.startswith("Errors:")), None)
    if errors is None:
        return markdown(comment)
    before, after = paragraphs[:errors], paragraphs[errors + 1:]
    text = paragraphs[errors][len("Errors:"):].strip()
    return (markdown("\n\n".join(before + after)) + "\n\n# ERRORS\n\n"
            + markdown(f"0, or one of these; each name begins with JITDUMP_ERROR_:\n\n{text}"))


def code_block(text: str) -> str:
    return textwrap.indent(text, "    ")


def first_sentence(comment: str) -> str:
    """What a comment begins with, as the line of a list."""
    sentence = re.split(r"[.:;](?=\s|$)", " ".join(comment.split()), maxsplit=1)[0]
    if len(sentence) > LINE_LENGTH:
        sentence = sentence[:LINE_LENGTH].rpartition(", ")[0] or sentence
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def render(page: str, section: int, date: str, text: str) -> str:
    """Markdown -> man."""
    made = subprocess.run(["lowdown", "-s", "-tman", "--out-no-smarty", f"-Mtitle={page.upper()}", f"-Msection={section}",
                           f"-Mdate={date}"], input=text, capture_output=True, text=True, check=True)
    lines: List[str] = []
    literal = False
    for line in made.stdout.replace(r"\fC", r"\fB").splitlines():
        literal = line in (".EX", ".nf") or literal and line not in (".EE", ".fi")
        # A heading begins a paragraph itself. Newer lowdowns put its text into the macro's line.
        if line in (".PP", ".LP") and lines and (
                re.match(r"\.S[HS] ", lines[-1]) or lines[-2:-1] in ([".SH"], [".SS"])):
            continue
        if literal or line.startswith((".", "'")) or len(line.encode()) <= LINE_LENGTH:
            lines.append(line.rstrip())
        else:
            wrapped = textwrap.wrap(line, LINE_LENGTH - 6, break_long_words=False,
                                    break_on_hyphens=False)
            lines += [r"\&" + part if part.startswith((".", "'")) else part for part in wrapped]
    return "\n".join(lines) + "\n"


def page_text(name: str, description: str, synopsis: str, body: str, see_also: List[str], more: str = "") -> str:
    others = ", ".join(escape(other) for other in see_also) + (f"\n\n{more}" if more else "")
    return (f"# NAME\n\n{escape(name)} - {escape(description)}\n\n# SYNOPSIS\n\n{synopsis}\n\n"
            f"# DESCRIPTION\n\n{body}\n\n# SEE ALSO\n\n{others}\n")


def member_text(item: Item) -> str:
    return "\n\n".join(f"## {escape(name)}\n\n{markdown(comment)}" if comment
                       else f"## {escape(name)}" for name, comment in members(item.declaration))


def types_named(item: Item, items: List[Item]) -> List[str]:
    """The other pages that an item's text names."""
    text = item.comment + item.declaration
    return [f"{other.name()}(3)" for other in items
            if other.has_page() and other is not item
            and re.search(rf"\b{other.name()}\b", text)]


def header_pages(header: str) -> List[Tuple[str, str]]:
    items = header_items(header)
    pages = []
    for item in items:
        if not item.has_page():
            continue
        name, see_also = item.name(), SEE_ALSO[1:2] + types_named(item, items)
        include = "#include <jitdump.h>\n\n"
        if item.is_function():
            declaration = re.sub(r"\n\s+", " ", item.declaration.replace("JITDUMP_API ", ""))
            synopsis = code_block(include + "\n    ".join(textwrap.wrap(declaration, 70)))
            body = sections_of_function(item.comment)
        else:
            plain = item.declaration.splitlines()[0] + "\n" + "\n".join(
                f"    {member};" if name else "" for member, _ in members(item.declaration)) + "\n};"
            if item.declaration.startswith("enum"):
                plain = plain.replace(";\n", ",\n").replace(",\n};", "\n};")
            synopsis = code_block(include + plain)
            body = markdown(item.comment) + "\n\n" + member_text(item)
        pages.append((name, page_text(name, first_sentence(item.comment) or name, synopsis, body,
                                      see_also)))
    return pages + [("jitdump", overview(items))]


def overview(items: List[Item]) -> str:
    """jitdump(3): the comments of the file and of its sections, and what is in each."""
    first = items[0].comment
    description = first.split("\n", 1)[0].split(":", 1)[1].strip().rstrip(".")
    body = [markdown(first.split("\n", 1)[1])]
    for item in items[1:]:
        if not item.declaration:
            title, _, text = item.comment.partition("\n")
            if re.match(r"[A-Z]{2}", title):
                body.append(f"# {escape(title.split(':')[0])}\n\n{markdown(text)}")
        elif item.has_page():
            explained = f": {escape(first_sentence(item.comment))}" if item.comment else ""
            body.append(f"- {escape(item.name())}(3){explained}")
        elif item.comment:  # a constant
            body.append(f"- {escape(item.name())}: {escape(' '.join(item.comment.split()))}")
    synopsis = code_block("#include <jitdump.h>\n\ncc ... $(pkg-config --cflags --libs jitdump)")
    return page_text("jitdump", description, synopsis, "\n\n".join(body), SEE_ALSO[:1] + SEE_ALSO[2:])


def document(path: pathlib.Path) -> str:
    """A document's text below its title, with its headings one level up, and its links' texts alone: of a document
    that is a man page, that page's name."""
    text = path.read_text(encoding="utf-8").split("\n", 1)[1]
    text = re.sub(r"^##(#*) (.*)", lambda match: f"#{match[1]} {match[2]}", text, flags=re.M)
    return re.sub(r"(?<!!)\[([^\]\n]+)\]\([^)\s]+\)", lambda match: PAGES.get(match[1], match[1]), text)


def newest_date() -> str:
    changelog = (PROJECT / "docs" / "changelog.md").read_text(encoding="utf-8")
    match = re.search(r"^## .*(\d{4}-\d\d-\d\d)", changelog, re.M)
    if not match:
        sys.exit("docs/changelog.md has no date")
    return match[1]


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    date = sys.argv[2] if len(sys.argv) == 3 else newest_date()
    header = (PROJECT / "include" / "jitdump.h").read_text(encoding="utf-8")
    pages = [(name, 3, text) for name, text in header_pages(header)]
    pages.append(("jitdump", 1, page_text(
        "jitdump", TOOL_NAME, "\n\n".join(TOOL_SYNOPSIS), document(PROJECT / "docs" / "tool.md"),
        SEE_ALSO[1:], OTHER_PAGES)))
    pages.append(("jitdump", 5, page_text(
        "jitdump", FORMAT_NAME, "jit-*pid*.dump", document(PROJECT / "docs" / "format.md"),
        SEE_ALSO[:2] + SEE_ALSO[3:], OTHER_PAGES)))
    pages.append(("jitdump-troubleshooting", 7, page_text(
        "jitdump-troubleshooting", TROUBLESHOOTING_NAME, "jitdump check *dump* *perf.data*",
        document(PROJECT / "docs" / "troubleshooting.md"), SEE_ALSO[:3], OTHER_PAGES)))
    for name, section, text in pages:
        path = folder / f"man{section}" / f"{name}.{section}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(name, section, date, text), encoding="utf-8")


if __name__ == "__main__":
    main()
