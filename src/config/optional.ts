/** Settings that only some commands use. The other commands work although a variable in them has no valid value. */
import type * as z from 'zod';
import { alerts } from './alerts.ts';
import { check } from './check.ts';
import type { Problem, ReportProblem } from './document/problem.ts';
import type { MapEntry, Tree } from './document/tree.ts';
import { absent } from './resolve.ts';
import { service } from './settings.ts';

export type OptionalSetting = 'service.token' | 'alerts.webhook';

/** The schema of a mapping with only that setting, by its path. */
const SCHEMAS: Readonly<Record<OptionalSetting, z.ZodType>> = {
  'service.token': service.pick({ token: true }),
  'alerts.webhook': alerts.pick({ webhook: true }),
};
const SECTIONS = Object.keys(SCHEMAS).map((setting) => setting.split('.')[0]);

/** A problem of a variable in an optional setting. */
export interface OptionalProblem extends Problem {
  readonly setting: OptionalSetting;
}

/** The optional setting at this path; undefined if the path leads to no optional setting. */
export function optionalSetting(path: readonly string[]): OptionalSetting | undefined {
  const name = path.join('.');
  return Object.hasOwn(SCHEMAS, name) ? (name as OptionalSetting) : undefined;
}

/** The config without values of variables that the schemas of optional settings refuse. Each of them is reported. */
export function withoutRefused(tree: Tree, reportOf: (path: readonly string[]) => ReportProblem | undefined): Tree {
  if (tree.kind !== 'map') return tree;
  const entries = tree.entries.map((section) => {
    const { key, value } = section;
    if (value.kind !== 'map' || !SECTIONS.includes(key)) return section;
    const settings = value.entries.map((entry) => usable(entry, [key, entry.key], reportOf([key, entry.key])));
    return { ...section, value: { ...value, entries: settings } };
  });
  return { ...tree, entries };
}

function usable(entry: MapEntry, path: readonly string[], report: ReportProblem | undefined): MapEntry {
  const setting = optionalSetting(path);
  const { value } = entry;
  if (!setting || !report || value.kind !== 'scalar' || value.variables.length === 0) return entry;
  const checked = check(SCHEMAS[setting], { kind: 'map', entries: [entry], span: value.span }, report);
  return checked ? entry : { ...entry, value: absent(value) };
}
