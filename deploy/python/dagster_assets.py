"""Dagster definitions that run the syncs each hour, as one asset. They need sluice_run.py beside them.

    dagster dev --module-name dagster_assets

Sluice, its config and its secrets (SLUICE_SERVICE_TOKEN_FILE, DATABASE_URL_FILE) are on the machine of the run.
"""

import dagster as dg

from sluice_run import Action, run_until_done


@dg.asset(
    description="Every sync of the config, into the schema `sluice` of the warehouse.",
    # Lets a second run wait; the lease would refuse it with exit code 7.
    pool="sluice",
    output_required=False,
)
def warehouse(context: dg.AssetExecutionContext):
    outcome = run_until_done()
    if outcome.action is Action.RETRY:
        # The run was stopped or killed. Finished syncs request again what no max_age covers.
        raise dg.RetryRequested(max_retries=5, seconds_to_wait=60)
    if outcome.action is Action.FAIL:
        raise dg.Failure(description=outcome.message(), allow_retries=False)
    if outcome.action is Action.NEXT_TIME:
        # Nothing is materialized, so dependent assets wait. The run itself does not fail.
        context.log.warning(outcome.message())
        return
    syncs = (outcome.summary or {}).get("syncs", [])
    yield dg.MaterializeResult(
        metadata={
            "loaded": sum(sync["loaded"] for sync in syncs),
            "points": sum(sync["points"] for sync in syncs),
            "truncated": sum(sync["truncated"] for sync in syncs),
            "summary": dg.JsonMetadataValue(outcome.summary),
        }
    )


hourly = dg.ScheduleDefinition(name="sluice_hourly", target=[warehouse], cron_schedule="15 * * * *")

defs = dg.Definitions(assets=[warehouse], schedules=[hourly])
