"""The first part of the instructor's page: what needs a human, and why.

Broken files, flags, claims to somebody else's name, files that nobody could be given, times that
nobody has said, and who has handed in nothing.
"""

from __future__ import annotations

from urllib.parse import quote

from coursekit.grading.results.class_count import ClassCount, Concern
from coursekit.grading.results.outline import safe_name
from coursekit.grading.results.pages import counted, name, text

MOST_ROWS = 1000  # of one list; all of it is in the journal
GROUPS = {
    "INTERNAL": (
        "Not graded, through our own fault",
        "No score was given. Run coursekit grade again; what was graded is not run twice.",
    ),
    "MALFORMED": (
        "Files that are no notebooks",
        "They count 0 until something better is handed in.",
    ),
    "claims": (
        "Named as if they were somebody else's",
        "The name was not believed: each file counts for whoever handed it in, the student here.",
    ),
    "flags": (
        "Flags",
        "Scores were given as usual. Look before you conclude anything: most flags are innocent.",
    ),
}


def needs_a_human(count: ClassCount) -> str:
    """Return the part of the page with everything that a human should look at."""
    made = []
    waiting = [one for one in count.parts.values() if one.waiting]
    if waiting:
        items = "".join(
            f"<li>{text(one.part.title)}: {counted(one.waiting, 'answer')}</li>" for one in waiting
        )
        made.append(
            "<h3>Answers in words to mark</h3><p>Start <code>jupyter lab</code> in "
            "<code>autograder/</code> and open Formgrader; the export takes the points from there."
            f"</p><ul>{items}</ul>"
        )
    for group, (title, advice) in GROUPS.items():
        if found := count.concerns.get(group):
            place = "file" if group == "claims" else "question"
            folded = group == "flags"
            made.append(_concerns(count.name, title, advice, found, folded=folded, place=place))
    made += [_times(count), _left(count), _missing(count)]
    if not any(made):
        made.append("<p>Nothing. No flag, no broken file, no answer left to mark.</p>")
    return f"<h2>What needs a human</h2>{''.join(made)}"


def _times(count: ClassCount) -> str:
    """Say whose time of handing in nobody knows, where that could cost something."""
    if not count.time_unknown or not (count.has_deadline or count.said_late):
        return ""
    command = f"<code>coursekit collect {text(count.name)} --times CSV</code>"
    late = ""
    if count.said_late:
        names = ", ".join(map(name, count.said_late[:MOST_ROWS]))
        late = f"<p>The platform marks as late, and does not say by how much: {names}.</p>"
    return (
        f"<h3>Unknown hand-in times ({count.time_unknown:,})</h3>"
        f"<p>Nothing was taken off. Give a table of times: {command}, then grade again.</p>{late}"
    )


def _left(count: ClassCount) -> str:
    """List the files that were not taken."""
    if not count.left:
        return ""
    rows = "".join(
        f"<tr><td>{_file(label)}</td><td>{text(why[:500])}</td></tr>"
        for label, why in sorted(count.left.items())[:MOST_ROWS]
    )
    return (
        f"<h3>Files that were not taken ({len(count.left):,})</h3><p>They count for nobody. Mend "
        "the name or the class list, and collect again.</p>"
        '<div class="scroll"><table><thead><tr><th>file</th><th>what</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _missing(count: ClassCount) -> str:
    """Name who handed in nothing."""
    if not count.missing:
        return ""
    names = ", ".join(map(name, count.missing[:MOST_ROWS]))
    more = ", …" if len(count.missing) > MOST_ROWS else ""
    who = f"<p>{names}{more}</p>"
    if len(count.missing) > 12:
        who = f"<details><summary>Who</summary>{who}</details>"
    return f"<h3>Nothing handed in ({len(count.missing):,})</h3>{who}"


def _concerns(
    assignment: str, title: str, advice: str, found: list[Concern], *, folded: bool, place: str
) -> str:
    several = any(concern.where for concern in found)
    rows = []
    for one in sorted(found, key=lambda c: (c.student, c.where))[:MOST_ROWS]:
        where = f"<td>{_file(one.where)}</td>" if several else ""
        rows.append(f"<tr><td>{student_link(assignment, one.student)}</td>{where}"
                    f"<td>{text(one.what[:500])}</td></tr>")  # fmt: skip
    left = len(found) - len(rows)
    more = f"<p>… and {left:,} more; all are in the journal.</p>" if left else ""
    second = f"<th>{place}</th>" if several else ""
    head = f"<th>student</th>{second}<th>what</th>"
    table = (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{more}"
    )
    label = f"{title} ({len(found):,})"
    if folded and len(found) > 12:
        return (
            f"<h3>{label}</h3><p>{advice}</p>{_flag_kinds(found)}"
            f"<details><summary>All of them</summary>{table}</details>"
        )
    return f"<h3>{label}</h3><p>{advice}</p>{table}"


def _file(label: str) -> str:
    """Show a file's name from left to right, in whatever script its parts are."""
    return f'<bdi dir="ltr">{text(label)}</bdi>'


def _flag_kinds(found: list[Concern]) -> str:
    kinds: dict[str, int] = {}
    for one in found:
        kinds[one.what[:120]] = kinds.get(one.what[:120], 0) + 1
    top = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))[:10]
    return "<ul>" + "".join(f"<li>{n:,} × {text(what)}</li>" for what, n in top) + "</ul>"


def student_link(assignment: str, student: str) -> str:
    """Name a student, with a link to the page that the student reads."""
    if not safe_name(student):
        return name(student)
    place = "/".join(quote(part) for part in ("feedback", student, assignment))
    return f'<a href="../{text(place)}/{text(quote(assignment))}.html">{name(student)}</a>'
