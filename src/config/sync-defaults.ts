/** Settings that apply to every sync without its own: those of `defaults`, and `accept` and `in_doubt` of the file. */
import { checksOf } from './checks.ts';
import { scheduleOf } from './schedule.ts';
import { type fileSchema, INHERITED } from './settings.ts';
import type { SyncDefinition } from './definition.ts';
import type { ReportProblem } from './document/problem.ts';
import type { SourceFile } from './document/source.ts';
import { type MapTree, entryOf, type Tree } from './document/tree.ts';
import type { MaxAge } from './values/max-age.ts';
import type { Tags } from './values/tags.ts';

type Settings = ReturnType<typeof fileSchema.parse>;

export interface SyncDefaults {
  /** The accepted share of rejects; undefined if the config sets none. */
  readonly acceptRejects: number | undefined;
  readonly inDoubt: SyncDefinition['inDoubt'] | undefined;
  readonly maxAge: MaxAge | undefined;
  readonly schedule: SyncDefinition['schedule'];
  readonly budgetPerRun: number | undefined;
  readonly inFlight: number | undefined;
  readonly tags: Tags | undefined;
  readonly checks: SyncDefinition['checks'];
}

export const NO_DEFAULTS: SyncDefaults = {
  acceptRejects: undefined,
  inDoubt: undefined,
  maxAge: undefined,
  schedule: undefined,
  budgetPerRun: undefined,
  inFlight: undefined,
  tags: undefined,
  checks: undefined,
};

/** The defaults of a config. Reports a key that is set both beside `syncs` and in `defaults`. */
export function defaultsOf(
  tree: MapTree,
  { accept, in_doubt, service, defaults = {} }: Settings,
  { source, report }: { readonly source: SourceFile; readonly report: ReportProblem },
): SyncDefaults {
  const written = entryOf(tree, 'defaults')?.value;
  for (const key of INHERITED) {
    const twice = entryOf(tree, key) && entryOf(written, key);
    if (twice) report(twice.keySpan, `${key} is set in defaults and beside syncs; remove one of them`);
  }
  refuseMoreInFlight(written, defaults.in_flight, service.in_flight, report);
  return {
    acceptRejects: (defaults.accept ?? accept)?.rejects,
    inDoubt: defaults.in_doubt ?? in_doubt,
    maxAge: defaults.max_age,
    schedule: defaults.schedule === undefined || !written ? undefined : scheduleOf(defaults.schedule, written, report),
    budgetPerRun: defaults.budget?.per_run,
    inFlight: defaults.in_flight,
    tags: defaults.tags,
    checks: checksOf(defaults.checks, written, { source, report }),
  };
}

/** A sync without the keys that are null there, and the defaults that these keys leave. */
export function withoutNulls(
  tree: Tree,
  defaults: SyncDefaults,
): { readonly tree: Tree; readonly defaults: SyncDefaults } {
  if (tree.kind !== 'map') return { tree, defaults };
  const nulls = tree.entries.filter(({ key, value }) => INHERITED.includes(key) && isNull(value)).map(({ key }) => key);
  if (nulls.length === 0) return { tree, defaults };
  const keep = <T>(key: string, value: T): T | undefined => (nulls.includes(key) ? undefined : value);
  return {
    tree: { ...tree, entries: tree.entries.filter(({ key }) => !nulls.includes(key)) },
    defaults: {
      acceptRejects: keep('accept', defaults.acceptRejects),
      inDoubt: keep('in_doubt', defaults.inDoubt),
      maxAge: keep('max_age', defaults.maxAge),
      schedule: keep('schedule', defaults.schedule),
      budgetPerRun: keep('budget', defaults.budgetPerRun),
      inFlight: keep('in_flight', defaults.inFlight),
      tags: keep('tags', defaults.tags),
      checks: keep('checks', defaults.checks),
    },
  };
}

const isNull = (tree: Tree): boolean =>
  tree.kind === 'scalar' && tree.value === null && !tree.hasProblem && tree.variables.length === 0;

/** Reports a limit that is above that of the service, and so would have no effect. */
export function refuseMoreInFlight(
  tree: Tree | undefined,
  limit: number | undefined,
  most: number | undefined,
  report: ReportProblem,
): void {
  const at = entryOf(tree, 'in_flight')?.value;
  if (at && limit !== undefined && most !== undefined && limit > most)
    report(at.span, `in_flight is ${limit}, more than service.in_flight, ${most}; allowed is a number up to that`);
}
