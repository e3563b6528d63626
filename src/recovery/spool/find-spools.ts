/** Finds the spools that the ledger names, and handles requests whose spool cannot be found. */
import { TransientError } from '../../errors.ts';
import type { RunScope } from '../../ledger/run-scope.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { leftRuns } from '../../ledger/failures/left-runs.ts';
import { countByState } from '../../ledger/requests/states.ts';
import { openSpool, type Spool } from './files.ts';
import { spoolIdIn } from './marker.ts';
import { abandonSpools, namedSpools, openSpools } from './run-spools.ts';
import type { SpoolPlace } from '../../ledger/runs.ts';
import type { Notice } from '../../ledger/summary.ts';
import { type SpooledFiles, spooledAnswers } from './spool.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** The spools that this process can read. */
export interface Spools {
  /** The spool of this process; undefined if it has none or could not create it. */
  readonly own?: SpoolPlace;
  /** Returns the answers in all spools that can be found, for the syncs of the config and those whose runs were left. */
  readonly waiting: () => Promise<readonly SpooledFiles[]>;
}

export interface SpoolsOptions extends RetryEffects {
  readonly ops: Ops;
  /** The config's syncs. */
  readonly syncs: readonly string[];
  readonly spool?: Spool;
  /** Folders of spools that an earlier version used, so the ledger may not name them. */
  readonly formerSpools?: readonly string[];
  readonly newId: () => string;
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

/** Prepares the spool of this process, and finds those of others. A spool that cannot be created causes a warning. */
export async function findableSpools(options: SpoolsOptions): Promise<Spools> {
  const { spool, onNotice } = options;
  if (!spool) return { waiting: async () => [] };
  const own = await spool.prepare(options.newId()).catch((error: unknown) => {
    const message = `the spool ${spool.folder} can’t be used: ${(error as Error).message}. If the database fails, answers are lost; name another folder in SLUICE_SPOOL`;
    onNotice({ level: 'warn', message });
    return undefined;
  });
  // Each sync looks for its answers, so one finding would be reported several times.
  const reported = new Set<string>();
  const reportOnce = (notice: Notice): void => {
    if (!reported.has(notice.message)) onNotice(notice);
    reported.add(notice.message);
  };
  const waiting = async (): Promise<SpooledFiles[]> => {
    const left = await retryTransient(() => leftRuns(options.ops, options.syncs, options.now()), options);
    const syncs = [...new Set([...options.syncs, ...left.map(({ sync }) => sync)])];
    const open = await retryTransient(() => openSpools(options.ops, { syncs }), options);
    const named = open.flatMap(({ spools }) => spools);
    const found = await findSpools(named, own);
    const folders = new Set([...found.map(({ folder }) => folder), ...(options.formerSpools ?? [])]);
    folders.delete(spool.folder);
    const spools = [spool, ...[...folders].map((folder) => openSpool({ folder }))];
    return Promise.all(spools.map((one) => spooledAnswers({ spool: one, onNotice: reportOnce }, syncs)));
  };
  return { ...(own && { own }), waiting };
}

/** Returns the spools whose folders exist here, each once, without the own spool. */
async function findSpools(named: readonly SpoolPlace[], own: SpoolPlace | undefined): Promise<SpoolPlace[]> {
  const others = new Map(named.filter(({ id }) => id !== own?.id).map((it) => [it.id, it]));
  const ids = await Promise.all([...others.values()].map(({ folder }) => spoolIdIn(folder)));
  return [...others.values()].filter(({ id }, position) => ids[position] === id);
}

/** All spools that may hold answers of a warehouse. */
export interface AllSpools {
  readonly found: readonly Spool[];
  /** Spools that cannot be found from here and may hold answers. */
  readonly missing: readonly SpoolPlace[];
}

/** Finds the spools of all runs in the ledger, beside the own spool and the former folders. Creates nothing. */
export async function allSpools(ops: Ops, spool: Spool, formerSpools: readonly string[]): Promise<AllSpools> {
  const named = await namedSpools(ops);
  const folders = [...new Set([spool.folder, ...named.map(({ folder }) => folder)])];
  const idOf = new Map(await Promise.all(folders.map(async (it) => [it, await spoolIdIn(it)] as const)));
  const found = named.filter(({ id, folder }) => idOf.get(folder) === id);
  const knownIds = new Set([idOf.get(spool.folder), ...found.map(({ id }) => id)]);
  const others = new Set([...found.map(({ folder }) => folder), ...formerSpools]);
  others.delete(spool.folder);
  const absent = named.filter(({ id, isOpen }) => isOpen && !knownIds.has(id));
  return {
    found: [spool, ...[...others].map((folder) => openSpool({ folder }))],
    missing: [...new Map(absent.map(({ id, host, folder }) => [id, { id, host, folder }])).values()],
  };
}

/** An open run with requests whose answers may be in spools that cannot be found from here. */
export interface MissingSpools {
  readonly runId: string;
  readonly requests: number;
  readonly spools: readonly SpoolPlace[];
}

/**
 * Returns the missing spools of open runs. A spool is found if its folder has its marker, and its answers are then
 * already in the ledger.
 */
export async function missingSpools(
  ops: Ops,
  which: { readonly syncs: readonly string[] } | RunScope,
  { own }: Pick<Spools, 'own'>,
): Promise<MissingSpools[]> {
  const missing: MissingSpools[] = [];
  for (const { runId, spools } of await openSpools(ops, which)) {
    const found = new Set((await findSpools(spools, own)).map(({ id }) => id));
    const absent = spools.filter(({ id }) => id !== own?.id && !found.has(id));
    if (absent.length === 0) continue;
    const { sent: requests = 0 } = await countByState(ops, { ...which, id: runId });
    if (requests > 0) missing.push({ runId, requests, spools: absent });
  }
  return missing;
}

/** The error of a run that leaves requests open because their answers may be in a spool that cannot be found. */
export function missingSpoolError(sync: string, { requests, spools }: Omit<MissingSpools, 'runId'>): TransientError {
  const places = spools.map(({ folder, host }) => `${folder} on ${host}`).join(', ');
  const many =
    requests === 1 ? '1 request was sent, and its answer' : `${requests} requests were sent, and their answers`;
  return new TransientError(`${many} may be in a spool that can’t be found from here: ${places}`, {
    next: `Run the sync where that folder is, or copy the folder here and name it in SLUICE_SPOOL. If it is gone for good: sluice sync ${sync} --abandon-spool, which may pay for these requests again.`,
  });
}

/** Abandons the missing spools of a sync's open runs, so that their answers count as lost. */
export async function abandonMissing(
  ops: Ops,
  sync: string,
  options: Pick<Spools, 'own'> & Pick<SpoolsOptions, 'onNotice'>,
) {
  for (const { runId, requests, spools } of await missingSpools(ops, { syncs: [sync] }, options)) {
    await abandonSpools(
      ops,
      runId,
      spools.map(({ id }) => id),
    );
    const folders = spools.map(({ folder, host }) => `${folder} on ${host}`).join(', ');
    const message = `the spool ${folders} is abandoned: ${requests === 1 ? 'the answer to 1 request counts' : `the answers to ${requests} requests count`} as lost`;
    options.onNotice({ level: 'warn', sync, message });
  }
}
