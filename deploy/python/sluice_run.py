"""Runs `sluice sync --json` for an orchestrator: the exit code decides what to do next, the summary shows what happened.

Needs only Python 3.9. airflow_dag.py and dagster_assets.py use it.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, replace
from enum import Enum


class Action(Enum):
    """What the caller should do about a run."""

    DONE = "done"
    # Run the syncs that did not finish again later: they continue where they stopped. A finished sync without max_age would
    # request everything again.
    RETRY = "retry"
    # A person must look first: the same command would end the same way, or pay again for rejected inputs or lost answers.
    FAIL = "fail"
    # The other requests stay planned. The next scheduled run continues with them.
    NEXT_TIME = "next time"


ACTIONS = {
    0: Action.DONE,
    1: Action.FAIL,  # a bug
    2: Action.FAIL,  # usage or config
    3: Action.FAIL,  # the credential was refused
    4: Action.FAIL,  # finished, with too many rejects
    5: Action.RETRY,  # a transient error of the service or the database
    6: Action.NEXT_TIME,  # out of points or budget
    7: Action.RETRY,  # another run holds the lease
    8: Action.FAIL,  # the schema is not current
    129: Action.RETRY,  # ended by SIGHUP after a clean drain
    130: Action.RETRY,  # ended by SIGINT after a clean drain
    143: Action.RETRY,  # ended by SIGTERM after a clean drain
}
# The exit code of several syncs is the first of these that one of them has.
WORST_FIRST = (1, 2, 3, 8, 7, 6, 5, 4, 0)
# After these, `run_until_done` tries again by itself, with these waits.
TRANSIENT = (5, 7)
OUT_OF_POINTS = 6
WAITS_S = (30, 60, 120, 240, 480)


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    action: Action
    # The output of `sluice sync --json`; None if it printed no summary.
    summary: dict | None
    # This process got a signal to stop meanwhile.
    stopped: bool = False

    def message(self) -> str:
        """The exit code, and a line for each sync that did not complete, with the reason and the next step."""
        failed = [s for s in self.syncs() if s["exitCode"] != 0]
        lines = [f"{s['sync']}: {s['state']}. {s['error'] or ''} {s['next'] or ''}".strip() for s in failed]
        return "\n".join([f"sluice sync ended with exit code {self.exit_code}", *lines])

    def syncs(self) -> list[dict]:
        return (self.summary or {}).get("syncs", [])

    def points(self) -> float:
        """The points of this invocation; `points` of a continued run counts from its start."""
        return sum(s.get("pointsNow", s["points"]) for s in self.syncs())

    def unfinished(self) -> tuple[str, ...]:
        """The syncs that a retry continues. A partial sync is finished: with exit code 5, it only lists lost answers."""
        return tuple(s["sync"] for s in self.syncs() if s["exitCode"] in TRANSIENT and s["state"] != "partial")

    def is_transient(self) -> bool:
        """Whether the same process should try again after a wait."""
        return self.action is Action.RETRY and self.exit_code in TRANSIENT and not self.stopped

    def followed_by(self, retry: Outcome) -> Outcome:
        """The outcome of all syncs after a retry of some of them."""
        if self.summary is None or retry.summary is None:
            return replace(retry, summary=retry.summary or self.summary)
        again = {s["sync"]: s for s in retry.syncs()}
        syncs = [again.get(s["sync"], s) for s in self.syncs()]
        code = retry.exit_code
        if code in WORST_FIRST:
            code = min([code, *(s["exitCode"] for s in syncs)], key=WORST_FIRST.index)
        return outcome_of(code, {**retry.summary, "exitCode": code, "syncs": syncs}, retry.stopped)


def outcome_of(exit_code: int, summary: dict | None, stopped: bool = False) -> Outcome:
    outcome = Outcome(exit_code, action_of(exit_code), summary, stopped)
    # Without a sync to continue, another attempt would only pay for finished syncs again.
    is_over = exit_code in TRANSIENT and summary is not None and not outcome.unfinished()
    return replace(outcome, action=Action.FAIL) if is_over else outcome


def action_of(exit_code: int) -> Action:
    """What to do after an exit code. Any other code means that the program was killed; then a retry continues the run."""
    return ACTIONS.get(exit_code, Action.RETRY)


def run_until_done(
    names: tuple[str, ...] = (), max_points: int | None = None, program: tuple[str, ...] = ("sluice",)
) -> Outcome:
    """Runs the named syncs, or all, and after a transient error those again that did not finish.

    An orchestrator that runs the complete task again does not know which syncs finished, and pays for those without max_age
    again. So the outcome asks it to do so only if the program or this process was stopped. A finished sync that is after a
    retried one sees its new rows in the next run. The attempts share `max_points`, as far as their summaries show them: a sync
    that lost the database shows 0 points.
    """
    outcome = attempt = run_sync(names, max_points, program)
    for wait_s in WAITS_S:
        if not outcome.is_transient():
            return outcome
        if max_points is not None:
            max_points -= math.ceil(attempt.points())
            if max_points <= 0:
                return outcome_of(OUT_OF_POINTS, {**outcome.summary, "exitCode": OUT_OF_POINTS})
        time.sleep(wait_s)
        attempt = run_sync(outcome.unfinished() or names, max_points, program)
        outcome = outcome.followed_by(attempt)
    return replace(outcome, action=Action.FAIL) if outcome.is_transient() else outcome


def run_sync(
    names: tuple[str, ...] = (), max_points: int | None = None, program: tuple[str, ...] = ("sluice",)
) -> Outcome:
    """Runs the named syncs, or all, once. The program's log goes to the standard error of this process.

    If this process is stopped by a signal or an exception, it sends SIGTERM to the program and waits for the drain: requests
    in flight are paid, and their answers are stored before the program exits. The program has a session of its own, so it
    drains even if the orchestrator kills this process.
    """
    limit = [] if max_points is None else ["--max-points", str(max_points)]
    command = [*program, "sync", *names, "--json", *limit]
    child: subprocess.Popen | None = None
    stopped = False

    def pass_on(_signal, _frame):
        nonlocal stopped
        stopped = True
        if child:
            child.send_signal(signal.SIGTERM)

    # Only the main thread can handle signals; in other threads the orchestrator raises an exception.
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, pass_on) if in_main else None
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        if stopped:
            child.send_signal(signal.SIGTERM)
        printed = child.communicate()[0]
    except BaseException:
        if child:
            child.send_signal(signal.SIGTERM)
            child.communicate()
        raise
    finally:
        if in_main:
            signal.signal(signal.SIGTERM, before)
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return outcome_of(code, summary_in(printed), stopped)


def summary_in(printed: str) -> dict | None:
    try:
        summary = json.loads(printed)
    except ValueError:
        return None
    return summary if isinstance(summary, dict) else None
