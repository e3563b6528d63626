/**
 * Every metric of Sluice, as data for the registry, the figures and the reference in docs/operations.md. All but the
 * durations are gauges: the figures come from the warehouse, where prices are corrected and old rows are pruned.
 */

interface Metric {
  readonly help: string;
  /** Label values are names from the config and the contract, or words of a short list, so their number is bounded. */
  readonly labels: readonly string[];
}

/** The metrics by name. */
export const metrics = {
  sluice_build_info: {
    help: 'Always 1; the labels say which version runs, and in which role.',
    labels: ['version', 'role'],
  },
  sluice_warehouse_up: { help: '1 if the figures could be read from the warehouse, otherwise 0.', labels: [] },
  sluice_figures_timestamp_seconds: {
    help: 'When the figures were read; they are cached for a few seconds.',
    labels: [],
  },
  sluice_sync_last_success_timestamp_seconds: {
    help: 'End of the sync’s newest run that ended with exit code 0. Runs of a part of the sync do not count.',
    labels: ['sync'],
  },
  sluice_sync_last_run_timestamp_seconds: { help: 'Start of the sync’s newest run.', labels: ['sync'] },
  sluice_sync_last_exit_code: {
    help: 'Exit code of the sync’s newest run that ended. Samples and runs of given days count only if there is no other run.',
    labels: ['sync'],
  },
  sluice_sync_interrupted: {
    help: '1 if the process of the sync’s newest run died and no other continued the run, otherwise 0. Samples and runs of given days count only if there is no other run.',
    labels: ['sync'],
  },
  sluice_sync_items: {
    help: 'Items in the answers of the sync’s runs, counted when each run ended, by their result: loaded, unchanged, superseded or quarantined.',
    labels: ['sync', 'result'],
  },
  sluice_requests: {
    help: 'Requests of the ledger by their state or result: planned, fresh, sent, stored, loaded, quarantined, empty, missing, failed, in_doubt, skipped or abandoned.',
    labels: ['endpoint', 'outcome'],
  },
  sluice_requests_in_doubt: {
    help: 'Requests of the sync that were sent, whose answer was lost, and that were not answered since.',
    labels: ['sync'],
  },
  sluice_points_spent: {
    help: 'Points of all requests of the ledger: from the request log where it has them, otherwise from the price list.',
    labels: ['endpoint'],
  },
  sluice_points_spent_today: {
    help: 'Points of the requests that were last sent on this UTC day.',
    labels: ['endpoint'],
  },
  sluice_points_spent_by_tag: {
    help: 'Points of the requests whose run has the tag, once for each tag: at most 500 tags that the config names, all others as (other).',
    labels: ['tag', 'value'],
  },
  sluice_points_left: {
    help: 'Points left according to the newest row of the request log that reports them; absent before the log was read.',
    labels: [],
  },
  sluice_points_left_timestamp_seconds: { help: 'When the request of that row started.', labels: [] },
  sluice_table_rows: {
    help: 'Rows of each table for analysts; estimated by the database for large tables.',
    labels: ['table'],
  },
  sluice_quarantine_open: {
    help: 'Items and answers of the sync, and of its reads of the log, that are in quarantine.',
    labels: ['sync'],
  },
  sluice_check_failing: {
    help: '1 if the newest result of the sync’s check is a failure or an error, otherwise 0.',
    labels: ['sync', 'check'],
  },
  sluice_queue_jobs: { help: 'Jobs of each queue by their state.', labels: ['queue', 'state'] },
  sluice_run_duration_seconds: {
    help: 'Duration of the runs that ended since this process started, with the interruptions of continued runs.',
    labels: ['sync'],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof metrics;

/** A value with its labels, in the order in which the metric declares them. */
export interface MetricSample {
  readonly labels: readonly string[];
  readonly value: number;
}

/** The one metric that is a histogram. */
export const DURATION = 'sluice_run_duration_seconds';
export type GaugeName = Exclude<MetricName, typeof DURATION>;

/** Buckets from a run without work to a run that takes a night. */
export const DURATION_BUCKETS_S: readonly number[] = [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200];
