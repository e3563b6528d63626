/** `sluice status`: how things stand, from the warehouse alone. */
import type { DriftStatus, FailureStatus, Status, SyncStatus } from '../../insight/status.ts';
import type { Config } from '../../config/definition.ts';
import { embeddedFolder } from '../../config/values/paths.ts';
import type { EngineStatus } from '../../engine/status.ts';
import type { Reconciliation } from '../../recovery/reconcile/reconcile.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { filtersText } from '../../text/filters.ts';
import { gapLines, lowerBoundLines } from '../text/lower-bounds.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { withNoun, duration, table } from '../terminal/print.ts';
import { reconciliationLine } from '../text/reconciliation-line.ts';
import { show } from '../terminal/show.ts';
import { engineStatusText } from '../text/engine-status.ts';
import { causeOf } from '../text/summary.ts';
import { spoolFolder } from '../spool-folder.ts';
import { type DeletedRows, deletedRowsText } from '../../text/deleted-rows.ts';
import { escapeControls } from '../../text/terminal-safe.ts';

interface FullStatus extends Status {
  /** Rows that the newest answers brought and that are not there; absent of a status that is watched. */
  readonly deleted?: readonly DeletedRows[];
  /** Absent when the request log was never read. */
  readonly reconciliation?: Reconciliation;
  /** Absent when no engine ever ran here. */
  readonly engine?: EngineStatus;
}

export const status = command({
  about:
    'Reads how things stand from the warehouse alone. open are requests still planned or in doubt, unloaded are stored answers that wait, ' +
    'quarantined is what could not be understood, truncated are slices of which more may exist than was returned, as things stand: ' +
    'also those of earlier runs that no later answer made good. ' +
    'Below come some of these, the requests of the last runs that failed, with the reason, and where answers differ from the contract. Requests whose answer could not be read are listed with what follows, and rows that the newest answers brought and that are not in their tables any more. Needs no token. ' +
    'Where schedule or worker ran, they follow: the processes that are alive, jobs that wait, runs whose chunks are at work, what was given up, and when each sync fires next.',
  options: {
    ...configOption,
    watch: { type: 'flag', about: 'Tell it again every two seconds until stopped.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice status', about: 'How things stand.' },
    { line: 'sluice status --json', about: 'The same for a monitor.' },
    { line: 'sluice status --watch', about: 'The same, again and again.' },
  ],
  run: async ({ config: flag, watch }, context) => {
    const config = await readConfig(context, flag);
    for (;;) {
      const { found, now } = await readAll(config, context, watch);
      // Home and clear: what a terminal shows is replaced, and a file gets one after the other.
      if (watch && context.out.isTerminal) context.out.write('\u001b[H\u001b[2J');
      show(context, found, () => wholeText(found, { ...context, now }));
      if (!watch || !(await rested(context))) return 0;
    }
  },
});

/** Time to look, and a database is not kept busy by being looked at. */
const WATCH_EVERY_MS = 2000;

/** Waits for the next look; false when the signal ended it. */
const rested = ({ sleep, signal }: Context): Promise<boolean> =>
  sleep(WATCH_EVERY_MS, signal).then(
    () => true,
    () => false,
  );

type Found = FullStatus & {
  readonly spool: { readonly folder: string; readonly waiting: number; readonly damaged: number };
  /** The folder of an embedded warehouse. */
  readonly warehouse?: string;
};

async function readAll(config: Config, context: Context, isWatched: boolean) {
  let { now } = context;
  // Opened for each look, so that between two looks an embedded warehouse is another's to use.
  const read = await withWarehouseToRead(context, config, async (warehouse): Promise<FullStatus> => {
    ({ now } = warehouse.clock);
    if (!(await hasSchema(warehouse))) return { syncs: [], failures: [], gaps: [], lowerBounds: [], drift: [] };
    const [{ readStatus }, { readReconciliation }, { readEngineStatus }] = await Promise.all([
      import('../../insight/status.ts'),
      import('../../recovery/reconcile/reconcile.ts'),
      import('../../engine/status.ts'),
    ]);
    const reconciliation = await readReconciliation(warehouse, now());
    const engine = await readEngineStatus(warehouse, now());
    // It reads answers from the vault, which is too much for every two seconds.
    const found = await readStatus(warehouse);
    const isCompared = !isWatched && found.syncs.length > 0;
    const deleted = isCompared
      ? await (await import('../../flow/replay/deleted-rows.ts')).deletedRows(warehouse)
      : undefined;
    return {
      ...found,
      ...(deleted && { deleted }),
      ...(reconciliation && { reconciliation }),
      ...(engine && { engine }),
    };
  });
  const { spoolCounts } = await import('../../recovery/spool/files.ts');
  const folder = spoolFolder(context, config);
  const place = embeddedFolder(config.warehouse.url.reveal());
  const spool = { folder, ...(await spoolCounts(folder)) };
  const found: Found = { ...read, ...(place !== undefined && { warehouse: place }), spool };
  return { found, now };
}

const wholeText = (found: Found, context: Context): string =>
  [
    statusText(found, context),
    ...(found.deleted ?? []).map((it) => `${escapeControls(`${it.sync}: ${deletedRowsText(it)}`)}\n`),
    reconciliationLine(found.reconciliation),
    spoolText(found.spool),
    ...(found.warehouse === undefined ? [] : [escapeControls(`warehouse: ${found.warehouse}`), '\n']),
    engineStatusText(found.engine, context),
  ].join('');

function statusText({ syncs, failures, gaps, lowerBounds, drift }: Status, context: Context): string {
  if (syncs.length === 0) return 'nothing has run yet: sluice sync begins\n';
  const columns = ['sync', 'state', 'exit', 'last run', 'complete', 'newest answer', ...COUNTS].map((name) => ({
    name,
  }));
  const rows = syncs.map((it) => [
    it.sync,
    it.state.replaceAll('_', ' '),
    it.exitCode ?? '',
    ago(it.startedAt, context),
    ago(it.completeAt, context),
    ago(it.newestAnswerAt, context),
    ...countsOf(it),
  ]);
  const others = lowerBounds.filter(
    ({ sync, unreadable, filters }) =>
      !unreadable || !gaps.some((gap) => gap.sync === sync && filtersText(gap.filters) === filtersText(filters)),
  );
  const errors = syncs.flatMap(({ sync, error }) =>
    error === null ? [] : [`${escapeControls(`${sync}: ${causeOf(sync, error)}`)}\n`],
  );
  return [
    table(columns, rows, context.out),
    ...errors,
    ...lowerBoundLines(
      // The gaps of the newest runs have lines of their own.
      others,
      syncs.reduce((sum, { truncated }) => sum + truncated, 0) - (lowerBounds.length - others.length),
    ),
    ...gapLines(
      gaps,
      syncs.reduce((sum, { unreadable }) => sum + unreadable, 0),
    ),
    failuresText(failures, context),
    driftText(drift, context),
  ].join('');
}

function spoolText(spool: { readonly folder: string; readonly waiting: number; readonly damaged: number }): string {
  if (spool.waiting + spool.damaged === 0) return '';
  const damaged = spool.damaged === 0 ? '' : `, and ${withNoun(spool.damaged, 'file')} there can’t be read`;
  const wait = spool.waiting === 1 ? 'waits' : 'wait';
  return escapeControls(
    `${withNoun(spool.waiting, 'answer')} ${wait} in ${spool.folder} for the next sync${damaged}`,
  ).concat('\n');
}

const COUNTS = ['open', 'in doubt', 'unloaded', 'quarantined', 'failed', 'truncated'];
const countsOf = (it: SyncStatus): number[] => [
  it.open,
  it.inDoubt,
  it.unloaded,
  it.quarantined,
  it.failed,
  it.truncated,
];

const ago = (at: Date | null, { now }: Context): string =>
  at === null
    ? 'never'
    : at > latestKnown(now())
      ? `in the future: ${at.toISOString().slice(0, 10)}`
      : `${duration(Math.max(0, now().getTime() - at.getTime()))} ago`;

function failuresText(failures: readonly FailureStatus[], context: Context): string {
  if (failures.length === 0) return '';
  const columns = ['sync', 'request', 'state', 'because', 'next'].map((name) => ({ name }));
  const rows = failures.map((it) => [
    it.sync,
    JSON.stringify(it.input),
    it.state.replaceAll('_', ' '),
    it.error,
    it.next ?? '',
  ]);
  return `\n${table(columns, rows, context.out)}`;
}

function driftText(drift: readonly DriftStatus[], context: Context): string {
  if (drift.length === 0) return '';
  const columns = ['differs from the contract', 'how', 'times', 'last seen'].map((name) => ({ name }));
  const rows = drift.map(({ resource, path, kind, count, lastSeenAt }) => [
    `${resource}.${path}`,
    kind,
    count,
    ago(lastSeenAt, context),
  ]);
  return `\n${table(columns, rows, context.out)}`;
}
