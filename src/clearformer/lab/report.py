"""What the outcomes of all trials come to: means, intervals, a verdict, and whether a source's claims held here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clearformer.lab.experiment import Arm, Claim, Experiment, Figure, Outcome, Points
from clearformer.lab.interval import LEVEL, Interval
from clearformer.lab.notebook import Plan
from clearformer.messages import Language
from clearformer.messages import lab_machine as say

Held = Literal["so", "not so", "undecided"]


@dataclass(frozen=True)
class ArmReport:
    """An arm over its seeds. Figures that no seed gave are absent."""

    arm: Arm
    outcomes: tuple[Outcome, ...]
    intervals: Mapping[str, Interval]
    facts: Mapping[str, int]

    @property
    def diverged(self) -> int:
        return sum(outcome.diverged for outcome in self.outcomes)


@dataclass(frozen=True)
class Report:
    """`claims` pairs each claim with what was found."""

    experiment: Experiment
    plan: Plan
    arms: tuple[ArmReport, ...]
    claims: tuple[tuple[Claim, Held], ...]

    def verdict(self, language: Language) -> str:
        """One sentence: which arm is best, and from which its interval stands apart."""
        return verdict(self, language)

    def fairness(self, language: Language) -> str | None:
        """What the arms have equally much of; or that they differ in parameters, and no part of them is held equal."""
        facts, promised = [arm.facts for arm in self.arms], self.experiment.equal
        if promised:
            equal = (say.COUNT_OF.text(language, what=say.FACTS[name], count=facts[0][name]) for name in promised)
            return say.EQUAL.text(language, facts=say.SEPARATOR.text(language).join(equal))
        differ = len({each.get("parameters") for each in facts}) > 1
        return say.NOT_ALIKE.text(language) if differ else None

    def facts(self, language: Language) -> dict[str, Any]:
        """As JSON."""
        figure = self.experiment.figure
        return {
            "experiment": self.experiment.name,
            "arms": [_entry(arm, figure, self.experiment.further) for arm in self.arms],
            "equal": list(self.experiment.equal),
            "verdict": self.verdict(language),
            "claims": [{"says": claim.says.text(language), "measured": held} for claim, held in self.claims],
            "level": LEVEL,
            "seeds": len(self.arms[0].outcomes),
            "steps": self.plan.steps,
            "budget_s": self.plan.budget,
        }


def report_of(experiment: Experiment, plan: Plan, outcomes: Mapping[str, Sequence[Outcome]]) -> Report:
    """`outcomes` by arm, seed by seed."""
    arms = tuple(_arm_report(arm, experiment, outcomes[arm.name], plan.facts[arm.name]) for arm in experiment.arms)
    named = {report.arm.name: report for report in arms}
    claims = tuple((claim, held(claim, named)) for claim in experiment.claims)
    return Report(experiment, plan, arms, claims)


def held(claim: Claim, arms: Mapping[str, ArmReport]) -> Held:
    """Decided only where the two intervals do not overlap."""
    above, below = (arms[name].intervals.get(claim.figure) for name in (claim.above, claim.below))
    if above is None or below is None or not above.apart(below):
        return "undecided"
    return "so" if above.mean > below.mean else "not so"


def verdict(report: Report, language: Language) -> str:
    figure = report.experiment.figure
    measured = [arm for arm in report.arms if figure.name in arm.intervals]
    if not measured:
        return say.ALL_DIVERGED.text(language)
    sign = -1 if figure.higher_is_better else 1
    best, *others = sorted(measured, key=lambda arm: sign * arm.intervals[figure.name].mean)
    winner = best.intervals[figure.name]
    values: dict[str, object] = {
        "figure": figure.label,
        "extreme": say.HIGHEST if figure.higher_is_better else say.LOWEST,
        "best": _named([best], language),
        "mean": format(winner.mean, figure.form),
        "level": round(100 * LEVEL),
    }
    if not others:
        sentence = say.ALONE_MEASURED.text(language, **values)
    elif winner.low is None:
        sentence = say.ONE_SEED.text(language, **values)
    else:
        sentence = _against(winner, others, figure, language, values)
    lost = [arm for arm in report.arms if arm.diverged]
    if not lost:
        return sentence
    counts = say.SEPARATOR.text(language).join(f"{_named([arm], language)} ({arm.diverged})" for arm in lost)
    return sentence + say.DIVERGED.text(language, arms=counts)


def _against(
    winner: Interval, others: Sequence[ArmReport], figure: Figure, language: Language, values: dict[str, object]
) -> str:
    """From whose interval the best arm's stands apart, from whose it does not, and who has none."""
    bare = [arm for arm in others if arm.intervals[figure.name].low is None]
    apart = [arm for arm in others if winner.apart(arm.intervals[figure.name])]
    near = [arm for arm in others if arm not in apart and arm not in bare]
    values = values | {"apart": _named(apart, language), "near": _named(near, language)}
    if near:
        which = say.APART_FROM_SOME if apart else say.APART_FROM_NONE
    else:
        which = say.APART_FROM_ALL if apart else say.UNDECIDED
    sentence = which.text(language, **values)
    return sentence + say.NO_INTERVAL.text(language, arms=_named(bare, language)) if bare else sentence


def shown(interval: Interval | None, figure: Figure) -> str:
    """1.234 [1.200, 1.268], as a table has it."""
    if interval is None:
        return "–"
    mean = format(interval.mean, figure.form)
    if interval.low is None or interval.high is None:
        return mean
    return f"{mean} [{format(interval.low, figure.form)}, {format(interval.high, figure.form)}]"


def middle(curves: Sequence[Points]) -> tuple[list[float], list[float], list[float], list[float]]:
    """The mean curve of several seeds over the abscissae of the first, and the least and the most of them."""
    x = [float(each) for each in curves[0][0]]
    columns = list(zip(*(y for at, y in curves if len(y) == len(x)), strict=True))
    means = [sum(column) / len(column) for column in columns]
    return x, means, [min(column) for column in columns], [max(column) for column in columns]


def _arm_report(arm: Arm, experiment: Experiment, outcomes: Sequence[Outcome], facts: Mapping[str, int]) -> ArmReport:
    intervals = {}
    for figure in experiment.figures:
        values = [outcome.figures[figure.name] for outcome in outcomes if figure.name in outcome.figures]
        if values:
            intervals[figure.name] = Interval.of(values)
    return ArmReport(arm, tuple(outcomes), intervals, facts)


def _entry(report: ArmReport, figure: Figure, further: Sequence[Figure]) -> dict[str, Any]:
    return {
        "name": report.arm.name,
        **_numbers(report, figure),
        "diverged": report.diverged,
        "facts": dict(report.facts),
        "further": [_numbers(report, each) for each in further],
    }


def _numbers(report: ArmReport, figure: Figure) -> dict[str, Any]:
    found = report.intervals.get(figure.name)
    if found is None:
        return {"metric": figure.name, "mean": None, "low": None, "high": None, "seeds": 0}
    return {"metric": figure.name, "mean": found.mean, "low": found.low, "high": found.high, "seeds": found.seeds}


def _named(arms: Sequence[ArmReport], language: Language) -> str:
    names = (say.QUOTED.text(language, name=arm.arm.label) for arm in arms)
    return say.SEPARATOR.text(language).join(names)
