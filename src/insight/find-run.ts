/** Finds the runs that a command line names: by id, or as the latest or the one before it. */
import { UsageError } from '../errors.ts';
import { isSync } from '../ledger/log-reads.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** A run, as far as commands name it. */
export interface NamedRun {
  readonly id: string;
  readonly sync: string;
  readonly startedAt: Date;
}

const PLACES: readonly string[] = ['latest', 'previous'];

/**
 * Returns the run that the text names: its id, `latest` or `previous`. The last two need a sync if there are several.
 * Throws a UsageError if there is no such run.
 */
export async function findRun(ops: Ops, text: string, sync: string | undefined): Promise<NamedRun> {
  const runs = ops
    .selectFrom('runs')
    .select(['id', 'sync', 'started_at as startedAt'])
    .where(isSync)
    .$if(sync !== undefined, (all) => all.where('sync', '=', sync ?? ''))
    .orderBy('id', 'desc');
  const place = PLACES.indexOf(text);
  if (place < 0 && !/^\d{1,18}$/.test(text))
    throw new UsageError(`${text} names no run; a run is an id, latest or previous.`, { next: LIST });
  if (place >= 0 && sync === undefined) {
    const syncs = await ops.selectFrom('runs').select('sync').distinct().where(isSync).orderBy('sync').execute();
    if (syncs.length > 1)
      throw new UsageError(`${text} is ambiguous, because ${syncs.length} syncs have run.`, {
        next: `Name the id of a run; with sluice diff, --sync can name one of ${syncs.map((it) => it.sync).join(', ')}.`,
      });
  }
  const found =
    place >= 0
      ? await runs.offset(place).limit(1).executeTakeFirst()
      : await runs.where('id', '=', text).executeTakeFirst();
  if (!found)
    throw new UsageError(
      `There is no ${place >= 0 ? `${text} run` : `run ${text}`}${sync === undefined ? '' : ` of ${sync}`}.`,
      {
        next: LIST,
      },
    );
  return found;
}

const LIST = 'Run sluice query "select run_id, sync, started_at from sync_runs order by run_id desc" for the ids.';
