"""An Airflow 3 DAG that runs the syncs each hour. Copy it to the DAGs folder, with sluice_run.py beside it.

Airflow 3.1 kills a task 5 s after a person stops it. The program still drains, which takes as long as its calls in flight;
on Kubernetes the worker's terminationGracePeriodSeconds must be longer than that.
Sluice, its config and its secrets (SLUICE_SERVICE_TOKEN_FILE, DATABASE_URL_FILE) are on the worker; no secret is an argument.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from airflow.sdk import dag, task

from sluice_run import Action, run_until_done


@dag(
    schedule="15 * * * *",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    # A sync knows what it has not requested yet, so missed runs are not made up for one by one.
    catchup=False,
    # The lease would refuse a second run with exit code 7.
    max_active_runs=1,
    tags=["sluice"],
)
def sluice():
    @task(
        # `run_until_done` retries transient errors, because it knows which syncs finished. These retries are for a run that was
        # stopped or killed: then finished syncs request again what no max_age covers.
        retries=5,
        retry_delay=timedelta(seconds=30),
        retry_exponential_backoff=True,
        max_retry_delay=timedelta(minutes=10),
        execution_timeout=timedelta(hours=6),
    )
    def sync() -> dict | None:
        outcome = run_until_done()
        if outcome.action is Action.RETRY:
            raise AirflowException(outcome.message())
        if outcome.action is Action.FAIL:
            raise AirflowFailException(outcome.message())
        if outcome.action is Action.NEXT_TIME:
            # Tasks after this one are skipped too, unless their trigger_rule says otherwise.
            raise AirflowSkipException(outcome.message())
        return outcome.summary

    sync()


sluice()
