/** `sluice status`: shows the status of all syncs, from the warehouse alone. */
import type { DriftStatus, FailureStatus, Status, SyncStatus } from '../../insight/status.ts';
import type { Config } from '../../config/definition.ts';
import { embeddedFolder } from '../../config/values/paths.ts';
import type { EngineStatus } from '../../engine/status.ts';
import type { SyncMarks } from '../../flow/marks/read-marks.ts';
import type { Proposal, Proposals } from '../../flow/promote/unknown-fields.ts';
import type { Reconciliation } from '../../recovery/reconcile/reconcile.ts';
import { command, configOption, flag, text } from '../command.ts';
import type { Context } from '../context.ts';
import { filtersText } from '../../text/filters.ts';
import { checkLines } from '../text/check-lines.ts';
import { gapLines, lowerBoundLines } from '../text/listed-lines.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { column, duration, fields, tableOf, withNoun } from '../terminal/print.ts';
import { marksText } from '../text/marks-text.ts';
import { reconciliationLine } from '../text/reconciliation-line.ts';
import { rowChangesText } from '../text/row-changes-text.ts';
import type { TableChanges } from '../../insight/row-changes.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { show } from '../terminal/show.ts';
import { engineStatusText } from '../text/engine-status.ts';
import { causeOf } from '../text/summary.ts';
import { spoolFolder } from '../spool-folder.ts';
import { type DeletedRows, deletedRowsText } from '../../text/deleted-rows.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withRetryable } from '../exit-codes.ts';
import { nextStatus } from './status/next-status.ts';

interface FullStatus extends Status, Partial<Proposals> {
  /** Rows of the newest answers that are missing from their tables; absent with `--watch`. */
  readonly deleted?: readonly DeletedRows[];
  /** The watermarks of the config's syncs; absent without `--marks`. */
  readonly marks?: readonly SyncMarks[];
  /** Rows that differ; absent without `--since`. */
  readonly changes?: readonly TableChanges[];
  /** Absent if the request log was never read. */
  readonly reconciliation?: Reconciliation;
  /** Absent if no engine ever ran on this warehouse. */
  readonly engine?: EngineStatus;
}

export const status = command({
  about:
    'Show the status of all syncs, from the warehouse alone. Needs no token.\n\n' +
    '- open: requests that are planned, in flight or in doubt.\n' +
    '- in doubt: requests whose answer was lost.\n' +
    '- unloaded: stored answers that are not loaded yet.\n' +
    '- quarantined: items and answers in quarantine.\n' +
    '- missing: inputs of the newest run whose entity the service does not know.\n' +
    '- failed: inputs that failed in the newest run.\n' +
    '- truncated: slices that are lower bounds because more may exist, also from earlier runs, until a later answer completes them or the sync no longer requests them.\n\n' +
    'Lists below the table show truncated slices, checks that failed, requests of the newest runs that failed or whose answer could not be read, rows of the newest answers that are missing from their tables, and differences from the contract. ' +
    'For unknown fields in more than 3 answers, a line shows the command that makes the field a column. ' +
    'If schedule or worker ran, the output also shows the live processes, waiting jobs, runs in progress, jobs that were given up, and the next firing of each sync.',
  options: {
    ...configOption,
    watch: flag('Show the status again every two seconds until stopped.'),
    marks: flag('Also show the watermarks of the config’s syncs, as sluice marks does.'),
    since: text(
      'RUN',
      'Also show how many rows are new, changed or gone since a run, by the answers of all later runs.',
    ),
  },
  positionals: {},
  examples: [
    { line: 'sluice status', about: 'Show the status.' },
    { line: 'sluice status --json', about: 'Print the status for a monitor.' },
    { line: 'sluice status --watch', about: 'Watch the status.' },
    { line: 'sluice status --since 12', about: 'Show what changed since run 12.' },
  ],
  run: async ({ config: flag, watch, marks, since }, context) => {
    const config = await readConfig(context, flag);
    const read = () => readFullStatus(config, context, { isWatched: watch, withMarks: marks, since });
    let shown = await read();
    for (;;) {
      const { found, now } = shown;
      // Clear the terminal, so that each status replaces the one before. In a file, they follow one another.
      if (watch && context.out.isTerminal) context.out.write('\u001b[H\u001b[2J');
      show(context, 'status/1', statusResult(found), () => fullText(found, { ...context, now }));
      if (!watch) return 0;
      const next = await nextStatus(read, context);
      if (next === undefined) return 0;
      shown = next;
    }
  },
});

/** The status with `retryable` beside each exit code. */
export const statusResult = (found: Found) => ({ ...found, syncs: found.syncs.map(withRetryable) });

type Found = FullStatus & {
  readonly spool: { readonly folder: string; readonly waiting: number; readonly damaged: number };
  /** The folder of an embedded warehouse. */
  readonly warehouse?: string;
};

interface StatusOptions {
  readonly isWatched: boolean;
  readonly withMarks: boolean;
  readonly since: string | undefined;
}

/** Returns how many rows differ since a run, by the answers of all later runs. */
async function changesSince(warehouse: Warehouse, run: string): Promise<readonly TableChanges[]> {
  const [{ findRun }, { readRowChanges }, { operationsOf }] = await Promise.all([
    import('../../insight/find-run.ts'),
    import('../../insight/row-changes.ts'),
    import('../../warehouse/connect/operations-db.ts'),
  ]);
  const { id } = await findRun(operationsOf(warehouse), run, undefined);
  return readRowChanges(warehouse, { after: id, through: null, sync: null });
}

/** The status of all syncs, and the clock that its times are compared with. */
export async function readFullStatus(
  config: Config,
  context: Context,
  { isWatched, withMarks, since }: StatusOptions,
): Promise<{ readonly found: Found; readonly now: () => Date }> {
  let { now } = context;
  // Opened each time, so that other processes can use an embedded warehouse in between.
  const read = await withWarehouseToRead(context, config, async (warehouse): Promise<FullStatus> => {
    ({ now } = warehouse.clock);
    if (!(await hasSchema(warehouse)))
      return { syncs: [], failures: [], gaps: [], lowerBounds: [], drift: [], driftPlaces: 0, checks: [] };
    const [{ readStatus }, { readReconciliation }, { readEngineStatus }] = await Promise.all([
      import('../../insight/status.ts'),
      import('../../recovery/reconcile/reconcile.ts'),
      import('../../engine/status.ts'),
    ]);
    const reconciliation = await readReconciliation(warehouse, now());
    const engine = await readEngineStatus(warehouse);
    // Missing rows are found by reading stored answers, which is too slow for every two seconds.
    const found = await readStatus(warehouse);
    const isCompared = !isWatched && found.syncs.length > 0;
    const deleted = isCompared
      ? await (await import('../../flow/replay/deleted-rows.ts')).deletedRows(warehouse)
      : undefined;
    const proposals = isCompared
      ? await (await import('../../flow/promote/unknown-fields.ts')).readProposals(warehouse)
      : undefined;
    const marks = withMarks
      ? await (await import('../../flow/marks/read-marks.ts')).readMarks(warehouse, config.syncs, now())
      : undefined;
    const changes = since === undefined ? undefined : await changesSince(warehouse, since);
    return {
      ...found,
      syncs: found.syncs.map((it) => withRemoved(it, config)),
      ...(marks && { marks }),
      ...(changes && { changes }),
      ...(deleted && { deleted }),
      ...proposals,
      ...(reconciliation && { reconciliation }),
      ...(engine && { engine }),
    };
  });
  const { spoolCounts } = await import('../../recovery/spool/files.ts');
  const folder = spoolFolder(context, config);
  const warehouseFolder = embeddedFolder(config.warehouse.url.reveal());
  const spool = { folder, ...(await spoolCounts(folder)) };
  const found: Found = { ...read, ...(warehouseFolder !== undefined && { warehouse: warehouseFolder }), spool };
  return { found, now };
}

/** Says what becomes of a run that no sync of the config continues. */
const withRemoved = (sync: SyncStatus, { syncs }: Config): SyncStatus =>
  !['interrupted', 'out_of_points'].includes(sync.state) || syncs.some(({ name }) => name === sync.sync)
    ? sync
    : { ...sync, error: REMOVED };

const REMOVED =
  'the sync is not in this config. A config that has the sync continues the run within 24 hours of its start. Later, any sync ends the run, unless its spool is missing, and lists its lost answers';

const fullText = (found: Found, context: Context): string =>
  [
    statusText(found, context),
    ...proposalLines(found),
    ...(found.deleted ?? []).map((it) => `${escapeControls(`${it.sync}: ${deletedRowsText(it)}`)}\n`),
    ...(found.marks ? ['\n', marksText(found.marks, context.out)] : []),
    ...(found.changes ? ['\n', rowChangesText(found.changes, context.out)] : []),
    reconciliationLine(found.reconciliation),
    spoolText(found.spool),
    ...(found.warehouse === undefined ? [] : [escapeControls(`warehouse: ${found.warehouse}`), '\n']),
    engineStatusText(found.engine, context),
  ].join('');

function statusText(
  { syncs, failures, gaps, lowerBounds, drift, driftPlaces, checks }: Status,
  context: Context,
): string {
  if (syncs.length === 0) return 'nothing has run yet; run sluice sync\n';
  const overview = tableOf(syncs, context.out, [
    column('sync', (it) => it.sync),
    column('state', (it) => it.state.replaceAll('_', ' ')),
    column('exit', (it) => it.exitCode ?? ''),
    column('last run', (it) => ago(it.startedAt, context)),
    column('complete', (it) => ago(it.completeAt, context)),
    column('newest answer', (it) => ago(it.newestAnswerAt, context)),
    column('open', (it) => it.open),
    column('in doubt', (it) => it.inDoubt),
    ...fields('unloaded', 'quarantined', 'missing', 'failed', 'truncated'),
  ]);
  const others = lowerBounds.filter(
    ({ sync, unreadable, filters }) =>
      !unreadable || !gaps.some((gap) => gap.sync === sync && filtersText(gap.filters) === filtersText(filters)),
  );
  const errors = syncs.flatMap(({ sync, error }) =>
    error === null ? [] : [`${escapeControls(`${sync}: ${causeOf(sync, error)}`)}\n`],
  );
  return [
    overview,
    ...errors,
    ...lowerBoundLines(
      // The gaps of the newest runs have their own lines.
      others,
      syncs.reduce((sum, { truncated }) => sum + truncated, 0) - (lowerBounds.length - others.length),
    ),
    ...gapLines(
      gaps,
      syncs.reduce((sum, { unreadable }) => sum + unreadable, 0),
    ),
    ...checkLines(checks, context.out),
    failuresText(failures, context),
    driftText(drift, driftPlaces, context),
  ].join('');
}

function proposalLines({ proposals = [], proposedFields = 0 }: Partial<Proposals>): readonly string[] {
  const more = proposedFields - proposals.length;
  const last = `and ${withNoun(more, 'more unknown field')}; the view contract_drift has all\n`;
  return [...proposals.map(proposalLine), ...(more > 0 ? [last] : [])];
}

const proposalLine = ({ table, column: name, answers, type, command: line }: Proposal): string =>
  `${escapeControls(`${table}.${name}: ${withNoun(answers, 'answer')}, ${type}; run \`${line}\``)}\n`;

function spoolText(spool: { readonly folder: string; readonly waiting: number; readonly damaged: number }): string {
  if (spool.waiting + spool.damaged === 0) return '';
  const damaged = spool.damaged === 0 ? '' : `, and ${withNoun(spool.damaged, 'file')} there can’t be read`;
  const wait = spool.waiting === 1 ? 'waits' : 'wait';
  return escapeControls(
    `${withNoun(spool.waiting, 'answer')} ${wait} in ${spool.folder} for the next sync${damaged}`,
  ).concat('\n');
}

const ago = (at: Date | null, { now }: Context): string =>
  at === null
    ? 'never'
    : at > latestKnown(now())
      ? `in the future: ${at.toISOString().slice(0, 10)}`
      : `${duration(Math.max(0, now().getTime() - at.getTime()))} ago`;

function failuresText(failures: readonly FailureStatus[], context: Context): string {
  const text = tableOf(failures, context.out, [
    column('sync', (it) => it.sync),
    column('request', (it) => JSON.stringify(it.input)),
    column('state', (it) => it.state.replaceAll('_', ' ')),
    column('reason', (it) => it.error),
    column('next', (it) => it.next ?? ''),
  ]);
  return text && `\n${text}`;
}

function driftText(drift: readonly DriftStatus[], places: number, context: Context): string {
  const text = tableOf(drift, context.out, [
    column('differs from the contract', (it) => `${it.resource}.${it.path}`),
    column('difference', (it) => it.kind),
    column('times', (it) => it.count),
    column('last seen', (it) => ago(it.lastSeenAt, context)),
  ]);
  const more = places - drift.length;
  return (
    text && `\n${text}${more > 0 ? `and ${withNoun(more, 'more difference')}; the view contract_drift has all\n` : ''}`
  );
}
