/** The states of alerts: each is raised once and cleared once, whichever process notices, and told until it was heard. */
import { type Selectable, sql } from 'kysely';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';

type Row = Selectable<OpsDatabase['alerts']>;
export type AlertRowKind = Row['kind'];

/** What concerns all syncs stands under this name, which none can have. */
export const ALL_SYNCS = '(all)';

/** Whether something that somebody should know of is so. */
export interface AlertCondition {
  readonly sync: string;
  readonly kind: AlertRowKind;
  readonly isRaised: boolean;
  readonly because: string;
  readonly next: string | null;
  readonly runId: string | null;
}

export interface AlertState {
  readonly sync: string;
  readonly kind: AlertRowKind;
  readonly state: Row['state'];
  readonly since: Date;
  readonly because: string;
  readonly next: string | null;
  readonly runId: string | null;
  /** Null while it is to be told. */
  readonly webhookAt: Date | null;
  readonly commandAt: Date | null;
}

export type AlertChannel = 'webhook' | 'command';
const COLUMN = { webhook: 'webhook_at', command: 'command_at' } as const;

/** Others leave an alert to whoever began to tell it for so long. */
const TELLING_MS = 60_000;

const stateOf = (row: Row): AlertState => ({
  sync: row.sync,
  kind: row.kind,
  state: row.state,
  since: row.since,
  because: row.because,
  next: row.next,
  runId: row.run_id,
  webhookAt: row.webhook_at,
  commandAt: row.command_at,
});

/** Writes what is so; a state that was so already keeps its beginning, and is not told anew. */
export async function recordCondition(ops: Ops, it: AlertCondition, now: Date): Promise<void> {
  const { sync, kind, because, next, runId: run_id } = it;
  if (it.isRaised) {
    const wasRaised = sql<boolean>`alerts.state = 'raised'`;
    const kept = <T>(column: string, anew: T) =>
      sql<T>`case when ${wasRaised} then ${sql.ref(`alerts.${column}`)} else ${anew}::timestamptz end`;
    await ops
      .insertInto('alerts')
      .values({ sync, kind, state: 'raised', since: now, because, next, run_id })
      .onConflict((conflict) =>
        conflict.columns(['sync', 'kind']).doUpdateSet({
          state: 'raised',
          since: kept('since', now),
          because,
          next,
          run_id,
          tried_at: kept('tried_at', null),
          webhook_at: kept('webhook_at', null),
          command_at: kept('command_at', null),
        }),
      )
      .execute();
    return;
  }
  // Who never heard of it need not hear that it is over.
  const over = (column: string) => sql<Date | null>`case when ${sql.ref(column)} is null then ${now}::timestamptz end`;
  await ops
    .updateTable('alerts')
    .set({
      state: 'cleared',
      since: now,
      because,
      next,
      run_id,
      tried_at: null,
      webhook_at: over('webhook_at'),
      command_at: over('command_at'),
    })
    .where('sync', '=', sync)
    .where('kind', '=', kind)
    .where('state', '=', 'raised')
    .execute();
}

/** Takes on the telling of what a channel has not heard, of these kinds; what another process is telling is left to it. */
export async function takeUnsent(
  ops: Ops,
  channels: readonly AlertChannel[],
  kinds: readonly AlertRowKind[],
): Promise<AlertState[]> {
  if (channels.length === 0 || kinds.length === 0) return [];
  const rows = await ops
    .updateTable('alerts')
    .set({ tried_at: sql`clock_timestamp()` })
    .where((eb) => eb.or(channels.map((it) => eb(COLUMN[it], 'is', null))))
    .where('kind', 'in', [...kinds])
    .where((eb) =>
      eb.or([
        eb('tried_at', 'is', null),
        eb('tried_at', '<', sql<Date>`clock_timestamp() - ${sql.lit(TELLING_MS)} * interval '1 millisecond'`),
      ]),
    )
    .returningAll()
    .execute();
  return rows.map(stateOf).toSorted((a, b) => a.since.getTime() - b.since.getTime());
}

/** Writes that a channel heard of this state, unless it is another by now. */
export async function recordSent(ops: Ops, told: AlertState, channel: AlertChannel, now: Date): Promise<void> {
  await ops
    .updateTable('alerts')
    .set({ [COLUMN[channel]]: now })
    .where('sync', '=', told.sync)
    .where('kind', '=', told.kind)
    .where('state', '=', told.state)
    .where('since', '=', told.since)
    .execute();
}

/** Lets the next process tell at once what this one could not. */
export async function returnUnsent(ops: Ops, untold: AlertState): Promise<void> {
  await ops
    .updateTable('alerts')
    .set({ tried_at: null })
    .where('sync', '=', untold.sync)
    .where('kind', '=', untold.kind)
    .execute();
}

/** Every alert that was ever raised, those that stand first, the newest first. */
export async function listAlerts(ops: Ops): Promise<AlertState[]> {
  const rows = await ops
    .selectFrom('alerts')
    .selectAll()
    .orderBy(sql`state = 'raised'`, 'desc')
    .orderBy('since', 'desc')
    .orderBy('sync')
    .orderBy('kind')
    .execute();
  return rows.map(stateOf);
}
