"""Runs `sluice sync --json` for an orchestrator: the exit code decides what to do next, the summary shows what happened.

Needs only Python 3.9. airflow_dag.py and dagster_assets.py use it.
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
    # Run the same command later: it continues where it stopped, and pays for no request twice.
    RETRY = "retry"
    # A person must fix something first: the same command would end the same way, or pay again for rejected inputs.
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
    130: Action.RETRY,  # ended by SIGINT after a clean drain
    143: Action.RETRY,  # ended by SIGTERM after a clean drain
}


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    action: Action
    # The output of `sluice sync --json`; None if it printed no summary.
    summary: dict | None

    def message(self) -> str:
        """The exit code, and a line for each sync that did not complete, with the reason and the next step."""
        syncs = (self.summary or {}).get("syncs", [])
        failed = [s for s in syncs if s["exitCode"] != 0]
        lines = [f"{s['sync']}: {s['state']}. {s['error'] or ''} {s['next'] or ''}".strip() for s in failed]
        return "\n".join([f"sluice sync ended with exit code {self.exit_code}", *lines])


def action_of(exit_code: int) -> Action:
    """What to do after an exit code. Any other code means that the program was killed; then a retry continues the run."""
    return ACTIONS.get(exit_code, Action.RETRY)


def run_sync(
    names: tuple[str, ...] = (), max_points: int | None = None, program: tuple[str, ...] = ("sluice",)
) -> Outcome:
    """Runs the named syncs, or all. The program's log goes to the standard error of this process.

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
    return Outcome(code, action_of(code), summary_in(printed))


def summary_in(printed: str) -> dict | None:
    try:
        summary = json.loads(printed)
    except ValueError:
        return None
    return summary if isinstance(summary, dict) else None
