/** Formats results of checks: a line for each, with the words of dbt, and their total. */
import type { CheckResult } from '../../ledger/checks/check-results.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { paint, type Style, withNoun } from '../terminal/print.ts';

type SyncCheck = CheckResult & { readonly sync: string };

type Word = 'PASS' | 'FAIL' | 'WARN' | 'ERROR' | 'SKIP';

const STYLES: Readonly<Record<Word, Style>> = { PASS: 'green', FAIL: 'red', WARN: 'yellow', ERROR: 'red', SKIP: 'dim' };

function wordOf({ status, severity }: CheckResult): Word {
  if (status === 'pass') return 'PASS';
  if (status === 'skipped') return 'SKIP';
  if (status === 'error') return 'ERROR';
  return severity === 'warn' ? 'WARN' : 'FAIL';
}

/** Keeps lines of different commands aligned. */
const MIN_HEAD_WIDTH = 7;

/** The word of a check, with the number of rows that its SQL found. */
function headOf(check: CheckResult): string {
  return check.kind === 'sql' && check.status === 'fail' ? `${wordOf(check)} ${check.found}` : wordOf(check);
}

/** A line for each check, such as `FAIL 3   groups.no_orphans  3 rows; allowed: no rows`; empty without checks. */
export function checkLines(checks: readonly SyncCheck[], channel: Channel): string[] {
  if (checks.length === 0) return [];
  const width = Math.max(...checks.map(({ sync, name }) => sync.length + 1 + name.length));
  const headWidth = Math.max(MIN_HEAD_WIDTH, ...checks.map((it) => headOf(it).length));
  const lines = checks.map((it) => {
    const limits = it.status === 'fail' ? `; allowed: ${it.allowed}` : '';
    const text = `${`${it.sync}.${it.name}`.padEnd(width)}  ${it.message}${limits}`;
    return `${paint(channel, STYLES[wordOf(it)], headOf(it).padEnd(headWidth))}  ${escapeControls(text)}\n`;
  });
  return [...lines, `${withNoun(checks.length, 'check')}: ${countsOf(checks)}\n`];
}

function countsOf(checks: readonly CheckResult[]): string {
  const words = { PASS: 'passed', FAIL: 'failed', WARN: 'warned', ERROR: 'could not run', SKIP: 'skipped' } as const;
  const counts = Map.groupBy(checks, wordOf);
  return (Object.keys(words) as Word[])
    .flatMap((word) => (counts.has(word) ? [`${counts.get(word)?.length} ${words[word]}`] : []))
    .join(', ');
}
