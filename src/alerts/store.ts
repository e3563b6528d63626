/** The states of alerts. Whichever process notices a change, each alert is raised once and cleared once, and is due until it is delivered. */
import { type Selectable, sql } from 'kysely';
import { periodAt } from '../control/budget/spending-period.ts';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';

type Row = Selectable<OpsDatabase['alerts']>;
export type AlertRowKind = Row['kind'];

/** The name under which an alert about all syncs is stored. No sync can have it. */
export const ALL_SYNCS = '(all)';

/** Whether the condition of an alert holds, and why. */
export interface AlertCondition {
  readonly sync: string;
  readonly kind: AlertRowKind;
  readonly isRaised: boolean;
  readonly because: string;
  readonly next: string | null;
  readonly runId: string | null;
  /** Start of the period: an alert that was raised before it is raised anew. */
  readonly from?: Date;
}

export interface AlertState extends Omit<AlertCondition, 'isRaised' | 'from'> {
  readonly state: Row['state'];
  readonly since: Date;
  /** When the webhook accepted it; null while it is due. */
  readonly webhookAt: Date | null;
  /** When the command accepted it; null while it is due. */
  readonly commandAt: Date | null;
}

export type AlertChannel = 'webhook' | 'command';
const COLUMN = { webhook: 'webhook_at', command: 'command_at' } as const;

/** For this long, other processes leave an alert to the process that began to deliver it. */
const DELIVERY_MS = 60_000;

/** The columns of an `AlertState`. */
const STATE = [
  'sync',
  'kind',
  'state',
  'since',
  'because',
  'next',
  'run_id as runId',
  'webhook_at as webhookAt',
  'command_at as commandAt',
] as const;

/**
 * Writes the condition, which a run of this config file found. An alert that was raised already, since `from`, keeps its
 * start and is not delivered again.
 */
export async function recordCondition(ops: Ops, condition: AlertCondition, config: string, now: Date): Promise<void> {
  const { sync, kind, because, next, runId: run_id, isRaised, from = null } = condition;
  if (isRaised) {
    const wasRaised = sql<boolean>`alerts.state = 'raised' and (${from}::timestamptz is null or alerts.since >= ${from})`;
    const kept = <T>(column: string, initial: T) =>
      sql<T>`case when ${wasRaised} then ${sql.ref(`alerts.${column}`)} else ${initial}::timestamptz end`;
    await ops
      .insertInto('alerts')
      .values({ sync, kind, state: 'raised', since: now, because, next, run_id, config })
      .onConflict((conflict) =>
        conflict.columns(['sync', 'kind']).doUpdateSet({
          state: 'raised',
          since: kept('since', now),
          because,
          next,
          run_id,
          config,
          tried_at: kept('tried_at', null),
          webhook_at: kept('webhook_at', null),
          command_at: kept('command_at', null),
        }),
      )
      .execute();
    return;
  }
  await clearAlerts(ops, { because, next, runId: run_id }, now)
    .where('sync', '=', sync)
    .where('kind', '=', kind)
    .execute();
}

/** Clears the alerts about limits whose day or month is over, also those of limits that configs no longer have. */
export async function clearEndedPeriods(ops: Ops, now: Date): Promise<void> {
  for (const length of ['day', 'month'] as const)
    await clearAlerts(ops, { because: `the ${length} of the limit is over`, next: null, runId: null }, now)
      .where('kind', '=', 'budget')
      .where('sync', 'like', `%.per\\_${length} %`)
      .where('since', '<', periodAt(now, length).from)
      .execute();
}

/**
 * Clears the alerts of syncs that the config no longer has. Another config may use the same schema, so only alerts of
 * runs of this file are cleared, and those of earlier versions, which did not record the file.
 */
export async function clearRemovedSyncs(
  ops: Ops,
  { file, syncs }: { readonly file: string; readonly syncs: readonly { readonly name: string }[] },
  now: Date,
): Promise<void> {
  const names = arrayLiteral(syncs.map(({ name }) => name));
  await clearAlerts(ops, { because: 'the config no longer has the sync', next: null, runId: null }, now)
    .where('kind', 'not in', ['budget', 'forecast'])
    .where('sync', '<>', sql<string>`all(${names}::text[])`)
    .where((eb) => eb.or([eb('config', 'is', null), eb('config', '=', file)]))
    .execute();
}

/** The update that clears raised alerts; the caller says which. */
function clearAlerts(
  ops: Ops,
  { because, next, runId }: Pick<AlertCondition, 'because' | 'next' | 'runId'>,
  now: Date,
) {
  // A channel that never got the alert does not need to hear that it is over. It may have got one whose delivery has no known end.
  const over = (column: string) =>
    sql<Date | null>`case when ${sql.ref(column)} is null and tried_at is null then ${now}::timestamptz end`;
  return ops
    .updateTable('alerts')
    .set({
      state: 'cleared',
      since: now,
      because,
      next,
      run_id: runId,
      tried_at: null,
      webhook_at: over('webhook_at'),
      command_at: over('command_at'),
    })
    .where('state', '=', 'raised');
}

/**
 * Claims and returns the alerts of these kinds that are due on one of the channels. Leaves out those that another process
 * is delivering. `wasTried` means that an earlier delivery has no known end.
 */
export async function takeUnsent(
  ops: Ops,
  channels: readonly AlertChannel[],
  kinds: readonly AlertRowKind[],
): Promise<(AlertState & { readonly wasTried: boolean })[]> {
  if (channels.length === 0 || kinds.length === 0) return [];
  const rows = await ops
    .with('due', (db) =>
      db
        .selectFrom('alerts')
        .select(['sync as due_sync', 'kind as due_kind', sql<boolean>`tried_at is not null`.as('was_tried')])
        .where((eb) => eb.or(channels.map((it) => eb(COLUMN[it], 'is', null))))
        .where('kind', 'in', [...kinds])
        .where((eb) =>
          eb.or([
            eb('tried_at', 'is', null),
            eb('tried_at', '<', sql<Date>`clock_timestamp() - ${sql.lit(DELIVERY_MS)} * interval '1 millisecond'`),
          ]),
        )
        .forUpdate(),
    )
    .updateTable('alerts')
    .from('due')
    .set({ tried_at: sql`clock_timestamp()` })
    .whereRef('sync', '=', 'due.due_sync')
    .whereRef('kind', '=', 'due.due_kind')
    .returning([...STATE, 'due.was_tried as wasTried'])
    .execute();
  return rows.toSorted((a, b) => a.since.getTime() - b.since.getTime());
}

/** Records that a channel accepted this state, unless the state changed meanwhile. */
export async function recordSent(ops: Ops, sent: AlertState, channel: AlertChannel, now: Date): Promise<void> {
  await ops
    .updateTable('alerts')
    .set({ [COLUMN[channel]]: now })
    .where('sync', '=', sent.sync)
    .where('kind', '=', sent.kind)
    .where('state', '=', sent.state)
    .where('since', '=', sent.since)
    .execute();
}

/**
 * Releases the claim on an alert, so that the next process can deliver it immediately. If a channel may have accepted it, it
 * still counts as tried.
 */
export async function returnUnsent(ops: Ops, unsent: AlertState, mayHaveArrived: boolean): Promise<void> {
  const free = sql<Date>`tried_at - ${sql.lit(DELIVERY_MS)} * interval '1 millisecond'`;
  await ops
    .updateTable('alerts')
    .set({ tried_at: mayHaveArrived ? free : null })
    .where('sync', '=', unsent.sync)
    .where('kind', '=', unsent.kind)
    .execute();
}

/** The active alerts, or every alert that was ever raised: active alerts first, then by start, newest first. */
export async function listAlerts(ops: Ops, which: 'active' | 'all'): Promise<AlertState[]> {
  return ops
    .selectFrom('alerts')
    .select(STATE)
    .$if(which === 'active', (all) => all.where('state', '=', 'raised'))
    .orderBy(sql`state = 'raised'`, 'desc')
    .orderBy('since', 'desc')
    .orderBy('sync')
    .orderBy('kind')
    .execute();
}
