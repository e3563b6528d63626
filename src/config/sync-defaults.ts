/** Settings that apply to every sync without its own: those of `defaults`, and `accept` and `in_doubt` of the file. */
import { checksOf } from './checks.ts';
import { scheduleOf } from './schedule.ts';
import { type fileSchema, INHERITED } from './settings.ts';
import type { SyncDefinition } from './definition.ts';
import type { ReportProblem } from './document/problem.ts';
import type { SourceFile } from './document/source.ts';
import { type MapTree, entryOf, isNull, type Tree } from './document/tree.ts';

type Settings = ReturnType<typeof fileSchema.parse>;

/** The defaults by the keys of the config; a key without a default is absent. */
export type SyncDefaults = Omit<NonNullable<Settings['defaults']>, 'schedule' | 'checks'> &
  Partial<Pick<SyncDefinition, 'schedule' | 'checks'>>;

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
    ...defaults,
    accept: defaults.accept ?? accept,
    in_doubt: defaults.in_doubt ?? in_doubt,
    schedule: defaults.schedule === undefined || !written ? undefined : scheduleOf(defaults.schedule, written, report),
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
  return {
    tree: { ...tree, entries: tree.entries.filter(({ key }) => !nulls.includes(key)) },
    defaults: Object.fromEntries(Object.entries(defaults).filter(([key]) => !nulls.includes(key))),
  };
}

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
