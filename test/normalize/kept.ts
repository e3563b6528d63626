/** Returns the parts of an item that were not stored: no column, no list and no `extra` holds them. */
import type { Batch, Cell } from '../../src/normalize/batch.ts';
import { catalog } from '../../src/service/catalog.ts';
import { instantText, microsOf } from '../../src/service/instant.ts';

/** Scalars of the item that are in no row of the batch, nulls and documented tags aside. */
export function lostFrom(item: unknown, batch: Batch): unknown[] {
  const kept = new Set<string>();
  for (const row of [...batch.roots.values()].flat()) {
    for (const cell of row.values) keep(kept, cell ?? null);
    for (const list of row.lists) for (const cell of (list ?? []).flat()) keep(kept, cell ?? null);
  }
  return scalarsOf(item).filter((it) => !formsOf(it).some((form) => kept.has(form)));
}

function keep(kept: Set<string>, cell: Cell): void {
  if (cell === null) return;
  const text = String(cell);
  kept.add(text);
  if (text.trim() !== '' && Number.isFinite(Number(text))) kept.add(String(Number(text)));
  const parsed = parsedOf(text);
  for (const inner of scalarsOf(parsed)) kept.add(String(inner));
  for (const name of namesOf(parsed)) kept.add(name);
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Scalar = string | number | boolean;

function scalarsOf(value: unknown): Scalar[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap(scalarsOf);
  if (typeof value !== 'object') return [value as Scalar];
  return Object.entries(value).flatMap(([name, inner]) => (name === '@type' && isTag(inner) ? [] : scalarsOf(inner)));
}

/** Documented tags, whether or not they begin with @. */
const TAGS: ReadonlySet<string> = new Set(catalog.map(({ returns }) => returns.tag));
const isTag = (value: unknown): boolean => typeof value === 'string' && (value.startsWith('@') || TAGS.has(value));

const namesOf = (value: unknown): string[] => {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesOf(inner)]);
};

/** The texts that a scalar may rest as: as sent, without what Postgres can't take, or as its column writes it. */
function formsOf(value: Scalar): string[] {
  const text = String(value).replaceAll('\0', '').toWellFormed();
  const forms = [text];
  if (typeof value !== 'string') return forms;
  if (text.trim() !== '' && Number.isFinite(Number(text))) forms.push(String(Number(text)));
  forms.push(text.toLowerCase());
  const micros = microsOf(text);
  if (micros !== undefined) forms.push(instantText(micros));
  return forms;
}
