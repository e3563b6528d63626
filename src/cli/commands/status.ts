/** `sluice status`: how things stand, from the warehouse alone. */
import type { DriftStatus, FailureStatus, Status, SyncStatus } from '../../ops/status.ts';
import type { Reconciliation } from '../../ops/reconciliation.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { lowerBoundLines } from '../lower-bounds.ts';
import { hasSchema, readConfig, withWarehouseToRead } from '../open.ts';
import { counted, duration, table } from '../print.ts';
import { reconciliationLine } from '../reconciliation-line.ts';
import { show } from '../show.ts';
import { causeOf } from '../summary.ts';
import { spoolFolder } from '../spool.ts';
import { visible } from '../../ops/visible.ts';

interface Reconciled extends Status {
  /** Absent when the request log was never read. */
  readonly reconciliation?: Reconciliation;
}

export const status = command({
  name: 'status',
  summary: 'Tells last runs, freshness, backlog, rejects and coverage.',
  about:
    'Reads how things stand from the warehouse alone. open are requests still planned or in doubt, unloaded are stored answers that wait, ' +
    'quarantined is what could not be understood, truncated are slices of which more may exist than was returned, as things stand: ' +
    'also those of earlier runs that no later answer made good. ' +
    'Below come some of these, the requests of the last runs that failed, with the reason, and where answers differ from the contract. Needs no token.',
  options: configOption,
  positionals: {},
  examples: [
    { line: 'sluice status', about: 'How things stand.' },
    { line: 'sluice status --json', about: 'The same for a monitor.' },
  ],
  run: async ({ config: flag }, context) => {
    const config = await readConfig(context, flag);
    const read = await withWarehouseToRead(context, config, async (warehouse): Promise<Reconciled> => {
      if (!(await hasSchema(warehouse))) return { syncs: [], failures: [], lowerBounds: [], drift: [] };
      const [{ readStatus }, { readReconciliation }] = await Promise.all([
        import('../../ops/status.ts'),
        import('../../ops/reconciliation.ts'),
      ]);
      const reconciliation = await readReconciliation(warehouse, context.now());
      return { ...(await readStatus(warehouse)), ...(reconciliation && { reconciliation }) };
    });
    const { spoolCounts } = await import('../../ops/spool.ts');
    const folder = spoolFolder(context);
    const found = { ...read, spool: { folder, ...(await spoolCounts(folder)) } };
    show(
      context,
      found,
      () => `${statusText(found, context)}${reconciliationLine(found.reconciliation)}${spoolText(found.spool)}`,
    );
    return 0;
  },
});

function statusText({ syncs, failures, lowerBounds, drift }: Status, context: Context): string {
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
  const errors = syncs.flatMap(({ sync, error }) =>
    error === null ? [] : [`${visible(`${sync}: ${causeOf(sync, error)}`)}\n`],
  );
  return [
    table(columns, rows, context.out),
    ...errors,
    ...lowerBoundLines(
      lowerBounds,
      syncs.reduce((sum, { truncated }) => sum + truncated, 0),
    ),
    failuresText(failures, context),
    driftText(drift, context),
  ].join('');
}

function spoolText(spool: { readonly folder: string; readonly waiting: number; readonly damaged: number }): string {
  if (spool.waiting + spool.damaged === 0) return '';
  const damaged = spool.damaged === 0 ? '' : `, and ${counted(spool.damaged, 'file')} there can’t be read`;
  const wait = spool.waiting === 1 ? 'waits' : 'wait';
  return visible(`${counted(spool.waiting, 'answer')} ${wait} in ${spool.folder} for the next sync${damaged}`).concat(
    '\n',
  );
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
  at === null ? 'never' : `${duration(Math.max(0, now().getTime() - at.getTime()))} ago`;

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
