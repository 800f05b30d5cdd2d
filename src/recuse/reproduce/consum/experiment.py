"""Table 3 and Figures 2 to 4 of the CONSUM paper, and the question when the coupling helps.

Prices of the paper: an error costs 4, a rejection 1, nu = 0.05 for both classes, Gaussian kernel. Its splits, grids and
number of novelties are not given. Here: random splits 80/20, stratified; features standardised on the training part;
width and C by 3-fold cross-validation on the training part, by the cost of the scenario at hand. In the third scenario
novelties are added, a quarter as many as there are test cases, uniform over a box a tenth larger than the data on each
side; the inner folds get novelties of their own in the same way. Prices are those of the paper's Table 1: classifying
a novelty costs 4, rejecting it nothing.

"SVM" is scikit-learn's with Platt's sigmoid, Chow's rule, and a one-class SVM on all cases for the novelties; "2OSVM"
two independent one-class SVMs; "CONSUM" the coupled ones. "CONSUM" never has C = 0 to choose from: that is 2OSVM.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...arrays import Floats
from ..pages import SIGN_TEST_NOTE, claims_table, heading, not_run, numbers, run_again
from ..results import Results, resume, write_results
from ..runner import TimeBudget, call_in_threads, run_parts
from ..splits import Labels
from . import figures, study
from .methods import METHODS, STRENGTHS, WIDTHS, Part
from .table import Outcome, cheaper_svm, claims, lines, parts, run_part

NAME = "consum"


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None) -> list[Outcome]:
    """Run the experiments as long as there is time; print and write the results after each of them.

    Parts of Table 3 that the folder `out` already holds with the same settings are not run again. Quick runs have files
    of their own. With `out`, the figures are drawn there too.
    """
    results, budget = resume(NAME, parts(quick), Outcome, quick, out), TimeBudget(minutes)

    def report(part: Part) -> None:
        print("\n".join(lines(part, results.outcomes)), flush=True)
        write(out, results)

    run_parts(results, budget, run_part, report)
    if budget.spent:
        results.skipped += ["the study of the coupling", "the figures"]
        write(out, results)
        return results.outcomes
    comparisons = compare_coupling(quick)
    print("\n".join(study.lines(comparisons, study_grid(quick)[0])), flush=True)
    write(out, results, comparisons, draw(results, out))
    return results.outcomes


def study_grid(quick: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Widths and values of C of the study."""
    return (WIDTHS[2:4], STRENGTHS[1:3]) if quick else (study.WIDTHS, study.STRENGTHS)


def compare_coupling(quick: bool) -> list[study.CouplingCosts]:
    """When the coupling helps: every situation, on several draws."""
    situations = study.SITUATIONS[1:5:3] if quick else study.SITUATIONS
    draws = [(situation, seed, *study_grid(quick)) for situation in situations for seed in range(2 if quick else 5)]
    return [comparison for found in call_in_threads(study.compare, draws) for comparison in found]


def draw(results: Results[Part, Outcome], out: Path | None) -> list[tuple[str, str]]:
    """Draw the figures; return titles and file names."""
    if out is None:
        return []
    out.mkdir(parents=True, exist_ok=True)
    fit = figure_fits(results.quick)
    return figures.draw(fit, tuple(METHODS), out, results.stem, draws=2 if results.quick else 3)


def figure_fits(quick: bool) -> figures.Fits:
    """Fits with width and C found by cross-validation on the first training set of the figures, for both rejections."""
    X, y = figures.training_cases()
    part = Part("figures", widths=WIDTHS[2:4] if quick else WIDTHS, strengths=STRENGTHS[:2] if quick else STRENGTHS)
    best = {
        name: min(method.search(part, X, y, 0), key=lambda point: point.costs[-1]) for name, method in METHODS.items()
    }

    def fit(method: str, C: float | None, X: Floats, y: Labels) -> Any:
        point = best[method] if C is None else replace(best[method], C=C)
        return METHODS[method].build(point, "both").fit(X, y)

    return fit


def write(
    out: Path | None,
    results: Results[Part, Outcome],
    comparisons: Iterable[study.CouplingCosts] = (),
    drawn: Iterable[tuple[str, str]] = (),
) -> None:
    """Write every outcome as JSON and the page as Markdown."""
    if out is not None:
        data = results.data() | {"study": [asdict(comparison) for comparison in comparisons]}
        write_results(out, results.stem, data, page(results, list(comparisons), drawn))


def page(
    results: Results[Part, Outcome], comparisons: list[study.CouplingCosts], drawn: Iterable[tuple[str, str]]
) -> list[str]:
    """The tables, the claims, the study and the figures (title and file name)."""
    text = [*heading(NAME, __doc__), "```"]
    for part in results.finished():
        text += lines(part, results.outcomes)
    text += ["```", "", "Mean and standard deviation over the splits. " + _settings_text(results), ""]
    text += ["## Claims of Table 3", "", SIGN_TEST_NOTE, "", *claims_table(claims(results.outcomes)), ""]
    text += ["## Where the SVM with Chow's rule is cheaper", "", *cheaper_svm(results.outcomes), ""]
    if comparisons:
        text += ["## When the coupling helps", "", (study.__doc__ or "").strip(), ""]
        text += [*study.lines(comparisons, study_grid(results.quick)[0]), ""]
    images = [line for title, file in drawn for line in (f"![{title}]({file})", "")]
    if images:
        text += ["## Figures", "", (figures.__doc__ or "").strip(), "", *images]
    return text + not_run(results.skipped, results.missing) + run_again(NAME, results.quick)


def _settings_text(results: Results[Part, Outcome]) -> str:
    """How the data sets were split and searched: all in the same way."""
    part = results.planned[0]
    return (
        f"{part.splits} splits (seeds from 0), {part.folds} inner folds on at most {part.searched} training cases, "
        f"gamma times the number of features in {numbers(part.widths)}, C in {numbers(part.strengths)}"
        f"{' (quick run)' * results.quick}."
    )
