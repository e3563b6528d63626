/** Settings that only some commands use. The other commands work although a variable in them has no valid value. */
import type * as z from 'zod';
import { alerts } from './alerts.ts';
import { check } from './check.ts';
import type { Problem, ReportProblem } from './document/problem.ts';
import type { MapEntry, ScalarTree, Tree } from './document/tree.ts';
import { service, warehouse } from './settings.ts';

export type OptionalSetting = 'service.url' | 'service.token' | 'warehouse.url' | 'alerts.webhook';

/**
 * By its path: the schema of a mapping with only that setting, and its value without one. An address has one that leads
 * nowhere, so that a command which uses it without asking contacts nothing.
 */
const SETTINGS: Readonly<Record<OptionalSetting, { readonly schema: z.ZodType; readonly value: string | null }>> = {
  'service.url': { schema: service.pick({ url: true }), value: 'http://unset.invalid' },
  'service.token': { schema: service.pick({ token: true }), value: null },
  'warehouse.url': { schema: warehouse.pick({ url: true }), value: 'postgres://unset.invalid/unset' },
  'alerts.webhook': { schema: alerts.pick({ webhook: true }), value: null },
};
const SECTIONS = Object.keys(SETTINGS).map((setting) => setting.split('.')[0]);

/** A problem of a variable in an optional setting. */
export interface OptionalProblem extends Problem {
  readonly setting: OptionalSetting;
}

/** How an optional setting is read. */
export interface OptionalReading {
  readonly report: ReportProblem;
  /** True if the setting may be an unset `${VAR}` alone. */
  readonly mayBeUnset: boolean;
  /** The scalar without a valid value. */
  readonly without: (tree: ScalarTree) => ScalarTree;
}

/** How the optional setting at this path is read; undefined if the path leads to none. */
export function optionalReading(
  path: readonly string[],
  add: (setting: OptionalSetting, ...problem: Parameters<ReportProblem>) => void,
): OptionalReading | undefined {
  const name = path.join('.');
  if (!isOptional(name)) return undefined;
  const { value } = SETTINGS[name];
  return {
    report: (...problem) => add(name, ...problem),
    mayBeUnset: value === null,
    without: (tree) => ({ ...tree, value, text: value ?? '' }),
  };
}

const isOptional = (name: string): name is OptionalSetting => Object.hasOwn(SETTINGS, name);

/** The config without values of variables that the schemas of optional settings refuse. Each of them is reported. */
export function withoutRefused(tree: Tree, readingOf: (path: readonly string[]) => OptionalReading | undefined): Tree {
  if (tree.kind !== 'map') return tree;
  const entries = tree.entries.map((section) => {
    const { key, value } = section;
    if (value.kind !== 'map' || !SECTIONS.includes(key)) return section;
    const settings = value.entries.map((entry) => usable(entry, `${key}.${entry.key}`, readingOf([key, entry.key])));
    return { ...section, value: { ...value, entries: settings } };
  });
  return { ...tree, entries };
}

function usable(entry: MapEntry, setting: string, reading: OptionalReading | undefined): MapEntry {
  const { value } = entry;
  if (!isOptional(setting) || !reading || value.kind !== 'scalar' || value.variables.length === 0) return entry;
  const { schema } = SETTINGS[setting];
  const checked = check(schema, { kind: 'map', entries: [entry], span: value.span }, reading.report);
  return checked ? entry : { ...entry, value: reading.without(value) };
}
