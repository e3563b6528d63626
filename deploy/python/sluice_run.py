"""Runs `sluice sync --json` for an orchestrator: the exit code says what to do next, the summary what happened.

Needs nothing but Python 3.9. airflow_dag.py and dagster_assets.py beside it are the two users.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from dataclasses import dataclass
from enum import Enum


class Action(Enum):
    """What the caller should do about a run."""

    DONE = "done"
    # The same again, later: it goes on where it stopped, and pays for nothing twice.
    RETRY = "retry"
    # A person must fix something first: the same command would end the same way, or pay again for rejected inputs.
    FAIL = "fail"
    # What is left stays planned. The next scheduled run goes on with it.
    NEXT_TIME = "next time"


ACTIONS = {
    0: Action.DONE,
    1: Action.FAIL,  # a bug
    2: Action.FAIL,  # usage or config
    3: Action.FAIL,  # the credential was refused
    4: Action.FAIL,  # finished, with too many rejects
    5: Action.RETRY,  # trouble upstream or in the database
    6: Action.NEXT_TIME,  # out of points or budget
    7: Action.RETRY,  # another run holds the lease
    8: Action.FAIL,  # the schema is not current
    130: Action.RETRY,  # ended by SIGINT after a clean drain
    143: Action.RETRY,  # ended by SIGTERM after a clean drain
}


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    action: Action
    # As `sluice sync --json` prints it; None when it ended before there was any.
    summary: dict | None

    def told(self) -> str:
        """Why it ended as it did and what to do next, in a line for each sync that did not end well."""
        syncs = (self.summary or {}).get("syncs", [])
        troubles = [s for s in syncs if s["exitCode"] != 0]
        lines = [f"{s['sync']}: {s['state']}. {s['error'] or ''} {s['next'] or ''}".strip() for s in troubles]
        return "\n".join([f"sluice sync ended with exit code {self.exit_code}", *lines])


def action_of(exit_code: int) -> Action:
    """What to do about an exit code. One that Sluice does not give is a kill, and a run goes on after a kill."""
    return ACTIONS.get(exit_code, Action.RETRY)


def run_sync(
    names: tuple[str, ...] = (), max_points: int | None = None, program: tuple[str, ...] = ("sluice",)
) -> Outcome:
    """Runs the syncs named, or all. Its log goes where this process's standard error goes.

    A stop that reaches this process, as a signal or an exception, is passed on as SIGTERM, and the drain waited for:
    what is in flight is paid, and is stored before the program ends. The program has a session of its own, so it drains
    even where the orchestrator kills this process meanwhile.
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

    # Only the main thread may say what a signal does; elsewhere the orchestrator raises an exception here.
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
    return Outcome(code, action_of(code), summary_in(printed))


def summary_in(printed: str) -> dict | None:
    try:
        summary = json.loads(printed)
    except ValueError:
        return None
    return summary if isinstance(summary, dict) else None
