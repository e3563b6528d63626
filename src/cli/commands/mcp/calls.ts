/** The functions behind the tools of `sluice mcp`. Each call reads the config and opens the warehouse for itself. */
import pLimit from 'p-limit';
import type { Config } from '../../../config/definition.ts';
import { embeddedFolder } from '../../../config/values/paths.ts';
import { openSpendingCap } from '../../../control/budget/spending-cap.ts';
import { EXIT, HeldError, SluiceError } from '../../../errors.ts';
import { listQuarantine } from '../../../ledger/quarantine.ts';
import { findEndpoint } from '../../../lineage/subject.ts';
import type { Readings } from '../../../mcp/data-tools.ts';
import type { Declarations } from '../../../mcp/declared-tools.ts';
import type { RunSyncs } from '../../../mcp/sync-tool.ts';
import { catalog } from '../../../service/catalog.ts';
import { toUserError } from '../../../warehouse/connect/retry-transient.ts';
import type { Context } from '../../context.ts';
import { requireToken, hasSchema, readConfig, withWarehouseToRead } from '../../open.ts';
import { exitCodes } from '../../exit-codes.ts';
import { endpointDetails, endpointFacts } from '../../reference/endpoint-facts.ts';
import { failureOf } from '../../text/failure.ts';
import { describeTable, listTables } from '../catalog/tables.ts';
import { costsResult, readCostReport } from '../costs.ts';
import { planResult } from '../plan.ts';
import { quotePlan } from '../plan/quote-plan.ts';
import { askWarehouse } from '../query.ts';
import { versioned } from '../../terminal/json.ts';
import { readFullStatus, statusResult } from '../status.ts';
import { runWithProgress, withRetryables } from '../sync.ts';

type Work<T> = (config: Config, context: Context) => Promise<T>;

/** The readings. An embedded warehouse has one owner, so its readings wait for one another. */
export function readings(context: Context, flag: string | undefined): Readings {
  const oneAtATime = pLimit(1);
  const read = async <T>(signal: AbortSignal, work: Work<T>): Promise<T> => {
    const own = { ...contextOf(context, signal), keepsSchema: true };
    const config = await readConfig(own, flag);
    const reading = (): Promise<T> => {
      own.signal.throwIfAborted();
      return work(config, own);
    };
    return embeddedFolder(config.warehouse.url.reveal()) === undefined ? reading() : oneAtATime(reading);
  };
  return {
    query: (sql, mostRows, signal) =>
      read(signal, (config, own) =>
        withWarehouseToRead(own, config, (warehouse) => askWarehouse(warehouse, sql, { mostRows, signal: own.signal })),
      ),
    status: (signal) =>
      read(signal, async (config, own) => {
        const { found } = await readFullStatus(config, own, { isWatched: false, withMarks: false, since: undefined });
        return versioned('status/1', statusResult(found));
      }),
    costs: (since, signal) =>
      read(signal, async (config, own) =>
        versioned(
          'costs/1',
          costsResult(await withWarehouseToRead(own, config, (warehouse) => readCostReport(config, warehouse, since))),
        ),
      ),
    plan: (names, signal) =>
      read(signal, async (config, own) => {
        const { planned } = await withWarehouseToRead(own, config, (warehouse) =>
          quotePlan(warehouse, config, names, { refresh: false }),
        );
        return versioned('plan/1', planResult(planned));
      }),
    quarantine: (most, signal) =>
      read(signal, (config, own) =>
        withWarehouseToRead(own, config, async (warehouse) =>
          (await hasSchema(warehouse)) ? listQuarantine(warehouse, most) : [],
        ),
      ),
  };
}

/** What the declarations say. SQL has to name the schema `operations` of the internal tables, so their names include it. */
export function declarations(operations: string): Declarations {
  const internal = (name: string): string => `${operations}.${name}`;
  return {
    tables: async (isInternal) =>
      isInternal
        ? (await listTables('operations')).map((it) => ({ ...it, name: internal(it.name) }))
        : listTables('analyst'),
    table: async (name) => {
      const details = await describeTable(name);
      if (details.area === 'analyst') return details;
      const references = details.references.map((it) => ({ ...it, table: internal(it.table) }));
      return { ...details, name: internal(details.name), references };
    },
    endpoints: () => catalog.map(endpointFacts),
    endpoint: (name) => endpointDetails(findEndpoint(name)),
  };
}

/** The calls of a server have spent its points. */
class CapError extends SluiceError {
  readonly exitCode = EXIT.budget;
}

/** Runs syncs, one call at a time, as long as the cap of all calls leaves points. */
export function syncsUnderCap(context: Context, flag: string | undefined, points: number): RunSyncs {
  const cap = openSpendingCap('--max-points of this server', points);
  let isRunning = false;
  return async (names, maxPoints, signal) => {
    const { spent, left } = await cap.use();
    if (left <= 0)
      throw new CapError(`--max-points of this server is ${points}, and ${spent} points are spent`, {
        next: 'Ask the user to restart the server with more points. Requests that are left stay planned.',
      });
    if (isRunning)
      throw new HeldError('another call of sync is in progress on this server', { next: 'Wait for its result.' });
    isRunning = true;
    try {
      const own = contextOf(context, signal);
      const config = await readConfig(own, flag);
      requireToken(config);
      const options = { names, refresh: false, failOnTruncated: false, cap, maxPoints };
      const summary = await runWithProgress(own, config, options);
      const note = meaningOf(summary.exitCode);
      const result = { cap: await cap.use(), ...versioned('sync/1', withRetryables(summary)) };
      return { result, note, isError: note !== undefined };
    } finally {
      isRunning = false;
    }
  };
}

/** The context of one call, whose signal also aborts when the client cancels the call. */
const contextOf = (context: Context, signal: AbortSignal): Context => ({
  ...context,
  signal: AbortSignal.any([context.signal, signal]),
});

/** The error for a model: what was found, what is allowed, the next step, and what the exit code means. */
export function failureText({ log, redactor }: Pick<Context, 'log' | 'redactor'>, error: unknown): string {
  const { message, next, exitCode, retryable, stack } = failureOf(toUserError(error), redactor.redact);
  if (stack !== undefined) log.error(message, { stack });
  const code = `(exit code ${exitCode}: ${exitCodes.find((it) => it.code === exitCode)?.short}${retryable ? '; retryable' : ''})`;
  return [message, next, code].filter((line) => line !== '').join('\n');
}

/** What the exit code of a run means, and the next step. */
const meaningOf = (exitCode: number): string | undefined =>
  exitCodes
    .filter(({ code }) => code === exitCode && code !== EXIT.complete)
    .map(({ short, meaning, next }) => `Exit code ${exitCode}: ${short}. ${meaning} ${next}`)
    .at(0);
