"""A diagnosis as one page that opens without a network."""

from __future__ import annotations

import html
from pathlib import Path

from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.report import Told, law_of, named, skipped_by_reason, told, verdict
from clearformer.inspect.canvas import page
from clearformer.messages import Language
from clearformer.messages import doctor_report as say


def write_page(path: Path, found: Diagnosis, target: str, language: Language = "en") -> Path:
    """Write the page; folders on the way are made."""
    body = "\n".join(part for part in _sections(found, language) if part)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(say.TITLE.text(language, target=target), verdict(found, language), body, language), "utf-8")
    return path


def _sections(found: Diagnosis, language: Language) -> tuple[str, ...]:
    called = ""
    if found.called is not None:
        floor = "" if found.floor is None else say.FLOOR.text(language, floor=found.floor)
        called = f"{found.called.text(language)} {floor}".rstrip()
    notes = [called, *(note.text(language) for note in found.notes)]
    return (
        f"<style>{_STYLE}</style>",
        "\n".join(f"<p>{html.escape(note)}</p>" for note in notes if note),
        "\n".join(_finding(told(finding, language), language) for finding in found.findings),
        _list(say.PASSED_HEADING.text(language), [(check, law_of(check, language)) for check in found.passed]),
        _list(say.SKIPPED_HEADING.text(language), list(skipped_by_reason(found, language))),
    )


def _finding(finding: Told, language: Language) -> str:
    rows = [(say.CAUSE, [named(finding, language)], "p")]
    rows += [(say.RIVALS, [", ".join(finding.rivals)], "p")] if finding.rivals else []
    rows.append((say.EVIDENCE, list(finding.evidence), "p"))
    rows += [(say.WHERE, [finding.where], "code")] if finding.where is not None else []
    rows.append((say.FIX, [finding.fix], "code"))
    cells = "".join(
        f"<dt>{html.escape(label.text(language))}</dt>"
        + "".join(f"<dd><{tag}>{html.escape(text)}</{tag}></dd>" for text in texts)
        for label, texts, tag in rows
    )
    title = f"{say.SEVERITIES[finding.severity].text(language)} · {finding.check} {finding.name}"
    return (
        f'<section class="{finding.severity.lower()}"><h2>{html.escape(title)}</h2>'
        f"<p>{html.escape(finding.law)}</p><dl>{cells}</dl></section>"
    )


def _list(title: str, rows: list[tuple[str, str]]) -> str:
    if not rows:
        return ""
    items = "".join(f"<tr><th scope='row'>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
    return f"<h2>{html.escape(title)}</h2><table class='laws'><tbody>{items}</tbody></table>"


_STYLE = """
section { border-left: 5px solid #888; padding: .2rem 1rem; margin: 1.2rem 0; background: #fafafa; }
section.error { border-color: #b3261e; } section.warn { border-color: #b26a00; } section.info { border-color: #33658a; }
section h2 { margin: .4rem 0; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: #555; grid-column: 1; } dd { margin: 0; grid-column: 2; } dd p { margin: 0; }
dd code { white-space: pre-wrap; }
table.laws th, table.laws td { text-align: left; vertical-align: top; font-weight: normal; }
table.laws th { max-width: 18rem; color: #555; }
"""
