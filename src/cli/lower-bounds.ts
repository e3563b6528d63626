/** Slices of which more may exist than was returned, as summary and status tell them to people: a line each. */
import { filtersTold } from '../ops/filters.ts';
import type { LowerBound } from '../ops/summary.ts';
import { visible } from '../ops/visible.ts';
import { counted, grouped } from './print.ts';

/** More say no more; the JSON form has up to 20, and the coverage in the warehouse all. */
const MOST_LINES = 5;
/** Enough to tell one slice from another. */
const MOST_CHARACTERS = 120;

/** A line for each of these slices, at most 5, and how many more there are of them all. */
export function lowerBoundLines(bounds: readonly (LowerBound & { readonly sync: string })[], all: number): string[] {
  const shown = bounds.slice(0, MOST_LINES);
  const more = all - shown.length;
  return [...shown.map(lineOf), ...(more > 0 ? [`and ${counted(more, 'more lower bound')}\n`] : [])];
}

function lineOf({ sync, filters, returned, reason }: LowerBound & { readonly sync: string }): string {
  const asked = filtersTold(filters);
  const short = asked.length > MOST_CHARACTERS ? `${asked.slice(0, MOST_CHARACTERS - 1)}…` : asked;
  return `${visible(`lower bound: ${sync} ${short}: ${grouped(returned)} returned, ${reason}`)}\n`;
}
