/** The `checks` of a sync: what must be true of its data after each run. */
import * as z from 'zod';
import { locationOf, type SourceFile } from './document/source.ts';
import type { ReportProblem } from './document/problem.ts';
import { entryOf, type Tree } from './document/tree.ts';
import { duration, share } from './values/quantity.ts';

/** What a check compares with its limits. */
export type CheckRule =
  | { readonly kind: 'sql'; readonly sql: string }
  | {
      readonly kind: 'rows';
      readonly min?: number | undefined;
      readonly max?: number | undefined;
      /** The largest accepted drop below the median of earlier runs, from 0 to 1. */
      readonly drop?: number | undefined;
    }
  | { readonly kind: 'fresh'; readonly maxAgeMs: number }
  | { readonly kind: 'complete' }
  | { readonly kind: 'nulls'; readonly table: string; readonly column: string; readonly max: number }
  | { readonly kind: 'cost'; readonly perRow: number };

export type CheckKind = CheckRule['kind'];
export type CheckSeverity = 'error' | 'warn';

export interface CheckDefinition {
  /** Unique in its sync. */
  readonly name: string;
  /** A failed check of severity `error` ends its run with exit 4. */
  readonly severity: CheckSeverity;
  readonly rule: CheckRule;
  /** `file:line:column` of the check. */
  readonly where: string;
}

const NAME = 'allowed are at most 63 lower-case letters, digits and _, beginning with a letter';
const ROWS = 'allowed is a mapping with at least one of min, max and drop, with min at most max';
const COLUMN = 'allowed is TABLE.COLUMN, such as pronet_users.headline';

const rows = z
  .strictObject({
    min: z.int().min(0).optional().describe('Fewest items.'),
    max: z.int().min(0).optional().describe('Most items.'),
    drop: share
      .optional()
      .describe(
        'Largest accepted drop below the median of the earlier complete runs, at most 20; with fewer than 3 of them it is not compared.',
      ),
  })
  .refine(({ min, max, drop }) => (min ?? max ?? drop) !== undefined && (min ?? 0) <= (max ?? Infinity), ROWS);

const rules = {
  sql: z
    .string()
    .min(1)
    .optional()
    .describe('Read-only SQL on the warehouse that must return no rows. On a server it may take one minute.'),
  rows: rows
    .optional()
    .describe('Number of items that the run received. Not compared if stored answers served inputs.'),
  fresh: duration.optional().describe('Largest age of the newest loaded answer of the sync.'),
  complete: z.literal(true).optional().describe('Nothing of the sync is truncated, unreadable, failed or missing.'),
  nulls: z
    .strictObject({
      column: z
        .string()
        .regex(/^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$/, COLUMN)
        .describe('Column to read, as TABLE.COLUMN.'),
      max: share.default(0).describe('Largest accepted share of rows with null (default: 0%).'),
    })
    .optional()
    .describe('Share of null in the rows whose last answer belongs to the sync.'),
  cost: z
    .strictObject({ per_row: z.number().min(0).describe('Most points for each item that created or changed a row.') })
    .optional()
    .describe('Points of the run: as charged if known, otherwise by the price list.'),
};

const KINDS = Object.keys(rules) as CheckKind[];
const ONE_KIND = `allowed is exactly one of ${KINDS.join(', ')} in each check`;

const check = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/, NAME)
      .optional()
      .describe('Name of the check in results, metrics and alerts, unique in the sync (default: its kind).'),
    severity: z
      .enum(['error', 'warn'])
      .default('error')
      .describe('error (default): a failed check ends the run with exit 4; warn: it is listed.'),
    ...rules,
  })
  .refine((it) => KINDS.filter((kind) => it[kind] !== undefined).length === 1, ONE_KIND);

const CHECKS = 'allowed is a list of checks';

/** The schema of `checks`. */
export const checks = z
  .array(check, { error: CHECKS })
  .describe('Checks of the data, after each run of the sync. Loaded rows stay, whatever the checks find.');

type Written = z.output<typeof check>;

/** The checks of a mapping, each with a name; undefined if it has none. Reports a name that is used twice. */
export function checksOf(
  written: readonly Written[] | undefined,
  tree: Tree | undefined,
  { source, report }: { readonly source: SourceFile; readonly report: ReportProblem },
): readonly CheckDefinition[] | undefined {
  const list = entryOf(tree, 'checks')?.value;
  if (!written || list?.kind !== 'list') return undefined;
  const { items } = list;
  const taken = new Set<string>();
  for (const [index, { name }] of written.entries()) {
    const span = entryOf(items[index], 'name')?.value.span;
    if (name !== undefined && taken.has(name) && span)
      report(span, `name is ${name}, which another check of the list has; allowed is a name of its own`);
    if (name !== undefined) taken.add(name);
  }
  return written.map((it, index) => {
    const rule = ruleOf(it);
    const name = it.name ?? freeName(rule, taken);
    taken.add(name);
    return { name, severity: it.severity, rule, where: locationOf(source, (items[index] ?? list).span.start) };
  });
}

function ruleOf({ sql, rows: bounds, fresh, nulls, cost }: Written): CheckRule {
  if (sql !== undefined) return { kind: 'sql', sql };
  if (bounds) return { kind: 'rows', ...bounds };
  if (fresh !== undefined) return { kind: 'fresh', maxAgeMs: fresh };
  if (cost) return { kind: 'cost', perRow: cost.per_row };
  if (!nulls) return { kind: 'complete' };
  const [table = '', column = ''] = nulls.column.split('.');
  return { kind: 'nulls', table, column, max: nulls.max };
}

/** A name for a check without one: its kind, with the column if it has one, and a number if the name is taken. */
function freeName(rule: CheckRule, taken: ReadonlySet<string>): string {
  const base = (rule.kind === 'nulls' ? `nulls_${rule.table}_${rule.column}` : rule.kind).slice(0, 59);
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}_${number}`;
  return name;
}
