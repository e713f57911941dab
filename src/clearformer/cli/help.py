"""Help pages in the user's language: cyclopts gathers what there is to say, this prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clearformer.messages import Language
from clearformer.messages import help as say

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions


# Defaults that say no more than that the option was left out.
_NOTHING = ("False", "None", "()")


class HelpPages:
    """A cyclopts help formatter: plain headings and two columns, no boxes."""

    show_metavar = True

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        from rich.table import Table
        from rich.text import Text

        if not panel.entries:
            return
        rows = Table.grid(padding=(0, 2, 0, 2))
        rows.add_column(no_wrap=True)
        # Chinese has no blanks to break at: fold it, or rich cuts the line.
        rows.add_column(overflow="fold")
        for entry in panel.entries:
            rows.add_row(Text(" ".join(entry.display_labels_with_metavar)), Text(self._described(entry)))
        console.print(Text(say.sentence(str(panel.title), self.language), style="bold"))
        console.print(rows)
        console.print()

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        from rich.text import Text

        line = str(usage or "").strip().removeprefix("Usage:").strip()
        console.print(Text(say.USAGE.text(self.language, line=line), style="bold"), end="\n\n")

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        from rich.text import Text

        console.print(Text(say.sentence(written(description), self.language)), end="\n\n")

    def _described(self, entry: HelpEntry) -> str:
        parts = [say.sentence(written(entry.description), self.language)]
        if entry.choices:
            parts.append(say.CHOICES.text(self.language, values=", ".join(entry.choices)))
        if entry.default is not None and entry.default not in _NOTHING:
            parts.append(say.DEFAULT.text(self.language, value=entry.default))
        if entry.required:
            parts.append(say.REQUIRED.text(self.language))
        return " ".join(part for part in parts if part)


def written(description: Any) -> str:
    """The plain text of a description that cyclopts has wrapped for rich."""
    inner = getattr(description, "primary_renderable", description)
    return str(getattr(inner, "plain", inner) or "").strip()
