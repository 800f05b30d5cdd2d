"""Reviewers: plans of their hours against replays with known truth, tampers with the log, killed writers, and packets.

Plans: each repetition draws a labelled sample, plans a month from it (`recuse.staffing.plan_capacity`, as `recuse plan`
does) and then lets that month happen with new cases. The model of these worlds is not calibrated, and a miss costs five
false alarms. `size` names the cases in the sample, those in a month, the share of positive ones, and the repetitions,
which take turns with half, nine tenths and six fifths of the hours that all reviews take. "Ours" is the share of
repetitions in which the truth lies outside its interval of 95 %, "peer's" the 7 % that are allowed over all worlds; one
world alone may be off by luck. "Cost of the month" is what that month costs. "One more hour" is what it saves, its
reviews paid, on average over 2,000 such months. "Queue" is how many cases wait at the end of day 30, with eight tenths,
all and six fifths of the hours.

Tampers: random changes to a log, one at a time, each of one of eight kinds: a byte, a digit, records taken out,
swapped, put in or repeated, cuts between records and inside. Killed writers: processes that append until SIGKILL hits
them at a random moment. "Ours" counts tampers that were not found, and records that had been acknowledged and are not
there; the log must be readable in the end. Allowed is none.

Packets: tasks out and back, as CSV and for Label Studio; "ours" counts those that are lost or come back with another
verdict. Blind packets: how far from a coin a forest of trees is that learns on half of the rows and guesses, from the
place and the identity of a row and of its neighbour, which of the others are audited, in standard errors of a guess:
the root mean square over ten draws; 1 is a coin, 1.6 is allowed, which a coin exceeds in one run of two hundred.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from tests.reviews.conftest import make_cases
from tests.reviews.killing import PARTS
from tests.reviews.reviewers import exported, fill_table, read_packet
from tests.reviews.tampering import tampered
from tests.reviews.test_packets import file_facts, guessed

import recuse
from recuse import Costs, ThresholdRejectClassifier
from recuse.predicting import predict_table
from recuse.reviews import ReviewLog, TamperedLogError, read_verdicts, write_packets
from recuse.staffing import PricedCases, Volume, plan_capacity

from .runner import Row

ROOT = Path(__file__).parent.parent
COSTS = Costs(fp=1, fn=5, reject=0.3)
ALLOWED = 0.07
PER_HOUR = 10  # reviews
PLANNED = ("cost of the month", "one more hour", "queue")
STAFF, QUEUE_STAFF, QUEUE_DAY = (0.5, 0.9, 1.2), (0.8, 1.0, 1.2), 30
# Shift of the log-odds, cases in the sample, cases in a month.
WORLDS = {
    "many positives": (0.8, 500, 3000),
    "many positives, small sample": (0.8, 150, 3000),
    "many positives, large sample": (0.8, 2000, 1000),
    "few positives": (3.2, 1000, 3000),
    "very few positives": (5.2, 2000, 5000),
}


def draw_cases(n, shift, rng):
    """Cases, and the answers of a model that is somewhat off."""
    log_odds = 1.7 * rng.standard_normal(n) - shift
    positive, probability = rng.random(n) < expit(log_odds), expit(0.9 * log_odds - 0.1)
    r = COSTS.reject_negative - np.minimum(probability * COSTS.fn, (1 - probability) * COSTS.fp)
    forced = (probability > COSTS.break_even).astype(np.intp)
    return PricedCases.of((r <= 0).astype(np.intp), r, forced, positive.astype(float), COSTS)


def paid(month, reviews):
    """What a month costs with so many reviews: counted case by case."""
    rejected = sorted(np.flatnonzero(month.rejected), key=lambda case: month.r[case])
    reviewed = set(rejected[: int(reviews)])
    return sum(month.reviewed[case] if case in reviewed else month.answered[case] for case in range(len(month)))


def worth(population, arrivals, hours, rng, months=2000):
    """What one more hour saves on average: the cases of the next reviews, month by month."""
    rejected, saved = np.flatnonzero(population.rejected), 0.0
    for _ in range(months):
        new = rng.choice(rejected, rng.poisson(arrivals * len(rejected) / len(population)))
        ranked = new[np.argsort(population.r[new])]
        following = ranked[int(hours * PER_HOUR) : int((hours + 1) * PER_HOUR)]
        saved += float((population.answered[following] - population.reviewed[following]).sum())
    return saved / months


def waiting(share, arrivals, reviews, rng):
    """Cases that wait at the end of a day."""
    queue = 0
    for day in range(1, QUEUE_DAY + 1):
        new = rng.binomial(rng.poisson(arrivals), share)
        queue = max(0, queue + new - (int(reviews * day + 1e-9) - int(reviews * (day - 1) + 1e-9)))
    return queue


def outside(forecast, truth):
    return not forecast.low - 1e-9 <= truth <= forecast.high + 1e-9


def plans(repetitions):
    """Rows of plans against what happens."""
    total = np.zeros(3)
    for name, (shift, n, arrivals) in WORLDS.items():
        rng = np.random.default_rng([7, n, arrivals])
        population = draw_cases(400_000, shift, rng)
        share = float(population.rejected.mean())
        worths = [worth(population, arrivals, np.floor(staff * arrivals * share / PER_HOUR), rng) for staff in STAFF]
        missed = np.zeros(3)
        for k in range(repetitions):
            sample = draw_cases(n, shift, rng)
            missed += _missed(sample, shift, arrivals, share, worths[k % 3], k, rng)
        positives = float(expit(1.7 * rng.standard_normal(400_000) - shift).mean())
        size = f"{n:,}; {arrivals:,}; {positives:.1%}; {repetitions:,}"
        total += missed
        for what, count in zip(PLANNED, missed, strict=True):
            yield Row(f"{what}: {name}", size, "allowed", count / repetitions, ALLOWED)
    months = repetitions * len(WORLDS)
    for what, count in zip(PLANNED, total, strict=True):
        yield Row(f"{what}: all worlds", f"{months:,} months", "allowed", count / months, ALLOWED, 1.0)


def _missed(sample, shift, arrivals, share, worth_of_hour, k, rng):
    """Whether the cost of a month, one more hour and the queue lie outside what was planned."""
    needed = arrivals * share / PER_HOUR
    volume = Volume(arrivals, "month", minutes_per_case=60 / PER_HOUR)
    hours = np.floor(STAFF[k % 3] * needed)
    plan = plan_capacity(sample, volume, hours=hours, days=1, seed=k)
    month = draw_cases(rng.poisson(arrivals), shift, rng)
    queue_hours = QUEUE_STAFF[k % 3] * needed
    queue = plan_capacity(sample, volume, hours=queue_hours, days=QUEUE_DAY, seed=k).waiting[-1].cases
    waits = waiting(share, arrivals / volume.days, queue_hours * PER_HOUR / volume.days, rng)
    return np.array(
        [
            outside(plan.level.cost, paid(month, hours * PER_HOUR)),
            outside(plan.level.next_hour, worth_of_hour),
            outside(queue, waits),
        ]
    )


def tampers(folder, times):
    """The row of tampers that were not found."""
    log, rng = ReviewLog(folder / "tampered.jsonl"), np.random.default_rng(11)
    for number in range(50):
        log.append([{"kind": "note", "number": number, "text": f"größer {number}"} for _ in range(4)])
    content, missed = log.path.read_bytes(), 0
    for _ in range(times):
        log.path.write_bytes(tampered(content, rng)[0])
        try:
            log.verify()
            missed += 1
        except TamperedLogError:
            pass
    return Row("tampers that were not found", f"{times:,} of a log of 201", "allowed", missed, 0, 1.0)


def killed_writers(folder, rounds):
    """The row of what killed writers lost."""
    log = folder / "killed.jsonl"
    command = [sys.executable, "-m", "tests.reviews.killing", str(log), "kill", str(rounds), "5"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = {(*entry, part) for entry in json.loads(printed) for part in range(PARTS)}
    found = [(note["writer"], note["number"], note["part"]) for note in ReviewLog(log).records("note")]
    lost = len(told - set(found)) + len(found) - len(set(found))
    return Row("records lost by killed writers", f"{rounds:,} kills, {len(told):,} told", "allowed", lost, 0, 1.0)


def answered(folder):
    """A model, its answers to 2,000 cases, and the true classes."""
    old, new = make_cases(400, 1), make_cases(2000, 2)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=Costs(fp=1, fn=2, reject=0.25), pos_label="bad")
    recuse.save(model.fit(old[["income", "debt"]], old["outcome"]), folder / "model.skops")
    new.to_csv(folder / "new.csv", index=False)
    keep = ["customer", "income", "debt", "remark"]
    predict_table(folder / "model.skops", folder / "new.csv", folder / "answers.csv", keep=keep)
    return folder / "model.skops", folder / "answers.csv", dict(zip(new["customer"], new["outcome"], strict=True))


def packets_and_back(folder, model, answers, truth):
    """Rows of tasks that are lost on their way."""
    for format in ("csv", "label-studio"):
        log = folder / f"{format}.jsonl"
        written = write_packets(model, answers, folder / format, log=log, audit=0.2, blind=True, format=format, seed=1)
        [file] = written.files
        if format == "csv":
            fill_table(file, truth)
        else:
            file = exported(file, truth)
        read_verdicts(file, log=log, reviewer="anna")
        table = ReviewLog(log).to_pandas()
        wrong = sum(
            truth[case["customer"]] != found for case, found in zip(table["shown"], table["verdict"], strict=True)
        )
        yield Row(f"tasks lost or changed, {format}", f"{len(table):,} tasks", "allowed", wrong, 0, 1.0)


def blindness(folder, model, answers, draws):
    """The row of a classifier that guesses what is audited."""
    errors = []
    for seed in range(draws):
        log = folder / f"blind-{seed}.jsonl"
        written = write_packets(
            model, answers, folder / f"blind-{seed}", log=log, audit=0.6, packets=3, blind=True, seed=seed
        )
        audited = (ReviewLog(log).to_pandas()["stratum"] == "audit").to_numpy()
        errors.append(guessed(file_facts([read_packet(file) for file in written.files]), audited))
    size = f"{draws} draws of about {len(audited):,}"
    away = float(np.sqrt(np.mean(np.square(errors))))
    return Row("guessing audits from blind files", size, "allowed", away, 1.6, 1.0)


def run(quick):
    """Measure, with fewer repetitions if `quick`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield tampers(folder, 50 if quick else 1000)
        yield killed_writers(folder, 5 if quick else 100)
        model, answers, truth = answered(folder)
        yield from packets_and_back(folder, model, answers, truth)
        yield blindness(folder, model, answers, 2 if quick else 10)
    yield from plans(9 if quick else 201)
