"""The exceptions that Clearformer raises on purpose: one tree, each with a cause, a remedy and an exit code.

`str(error)` is English; `error.cause("zh")` and `error.remedy("zh")` give the user's language. A Python `assert` in
this code base states an invariant of our own and is never an answer to input.
"""

from __future__ import annotations

from clearformer.messages import Failure, Language


class ClearformerError(Exception):
    """Base of the tree. `kind` is the stable name that `--json` prints; `exit_code` is the process's."""

    kind = "error"
    exit_code = 1

    def __init__(self, failure: Failure, **values: object) -> None:
        self.failure = failure
        self.values = values
        super().__init__(f"{self.cause()} {self.remedy()}")

    def cause(self, language: Language = "en") -> str:
        return self.failure.cause.text(language, **self.values)

    def remedy(self, language: Language = "en") -> str:
        return self.failure.remedy.text(language, **self.values)


class UsageError(ClearformerError):
    """The command or call was put wrongly: unknown name, value out of range."""

    kind = "usage"
    exit_code = 2


class SpecError(ClearformerError):
    """A spec that no Transformer can satisfy."""

    kind = "spec"


class CheckpointError(ClearformerError):
    """A model file that is missing, damaged, hostile or contradictory."""

    kind = "checkpoint"


class TokenizerError(ClearformerError):
    """A tokenizer file that cannot be used, or text that it cannot take."""

    kind = "tokenizer"


class TemplateError(ClearformerError):
    """A chat template that failed, ran too long, or wrote too much."""

    kind = "template"


class GenerationError(ClearformerError):
    """A prompt or a generation setting that the model cannot honour."""

    kind = "generation"


class StoreError(ClearformerError):
    """A model that could not be found, fetched, or kept."""

    kind = "store"


class MachineError(ClearformerError):
    """This machine lacks what was asked for: memory, a number type, a device."""

    kind = "machine"


class DataError(ClearformerError):
    """A data file that cannot be read, or that does not hold what the task needs."""

    kind = "data"


class TrainingError(ClearformerError):
    """Training that cannot begin, or cannot go on."""

    kind = "training"


class RunError(ClearformerError):
    """A run folder that is in use, damaged, or of another recipe."""

    kind = "run"


class DiagnosisError(ClearformerError):
    """A law that a Transformer must obey is broken."""

    kind = "diagnosis"
