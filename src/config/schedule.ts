/** Checks the schedule of a sync: a cron expression and its time zone. */
import { foundIn } from './check.ts';
import { nearest } from './document/nearest.ts';
import { readCron } from './values/cron.ts';
import type { ReportProblem } from './document/problem.ts';
import { entryOf, type Tree } from './document/tree.ts';

export interface Schedule {
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
}

/** The schedule of a sync. A plain cron expression is in UTC. Problems go to `report`. */
export function scheduleOf(written: string | Schedule, tree: Tree, report: ReportProblem): Schedule {
  const schedule = typeof written === 'string' ? { cron: written, timezone: 'UTC' } : written;
  const { cron, timezone } = schedule;
  const at = entryOf(tree, 'schedule')?.value;
  const times = readCron(cron);
  const cronAt = entryOf(at, 'cron')?.value ?? at;
  if (typeof times === 'string' && cronAt) report(cronAt.span, `cron: ${times}`);
  const zoneAt = entryOf(at, 'timezone');
  if (zoneAt && !isTimezone(timezone)) {
    report(
      zoneAt.value.span,
      `timezone is ${foundIn(zoneAt.value)}; allowed is an IANA name such as America/New_York${zoneGuess(timezone)}`,
    );
  }
  return schedule;
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function zoneGuess(name: string): string {
  const city = name.split('/').at(-1)?.toLowerCase() ?? '';
  const zones = Intl.supportedValuesOf('timeZone');
  const found = zones.find((it) => it.toLowerCase().endsWith(`/${city.replaceAll(' ', '_')}`)) ?? nearest(name, zones);
  return found === undefined ? '' : `; did you mean ${JSON.stringify(found)}?`;
}
