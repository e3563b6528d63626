/** Results of checks as lines, with the words of dbt. */
import { expect, it } from 'vitest';
import { checkLines } from '../../src/cli/text/check-lines.ts';
import type { CheckResult } from '../../src/ledger/checks/check-results.ts';
import { keptChannel } from './channels.ts';

const check = (more: Partial<CheckResult>): CheckResult & { readonly sync: string } => ({
  sync: 'groups',
  name: 'a',
  kind: 'sql',
  severity: 'error',
  status: 'pass',
  found: 0,
  allowed: 'no rows',
  message: '0 rows',
  ...more,
});

it('each check is a line with its word, what was found and what is allowed, and control characters are escaped', () => {
  const lines = checkLines(
    [
      check({}),
      check({ name: 'orphans', status: 'fail', found: 3, message: '3 rows' }),
      check({
        name: 'b',
        kind: 'rows',
        severity: 'warn',
        status: 'fail',
        found: 1,
        allowed: 'at least 2',
        message: '1 item',
      }),
      check({ name: 'c', status: 'error', found: null, message: 'no such\u001b[2J column' }),
      check({ name: 'd', status: 'skipped', found: null, message: 'not run: the run did not finish its plan' }),
    ],
    keptChannel(),
  );
  expect(lines.join('')).toBe(
    [
      'PASS     groups.a        0 rows',
      'FAIL 3   groups.orphans  3 rows; allowed: no rows',
      'WARN     groups.b        1 item; allowed: at least 2',
      'ERROR    groups.c        no such␛[2J column',
      'SKIP     groups.d        not run: the run did not finish its plan',
      '5 checks: 1 passed, 1 failed, 1 warned, 1 could not run, 1 skipped',
      '',
    ].join('\n'),
  );
});

it('the names are aligned if the number of rows is long', () => {
  const failed = check({ name: 'b', status: 'fail', found: 12_063, message: '12063 rows' });
  expect(checkLines([check({}), failed], keptChannel()).slice(0, 2)).toEqual([
    'PASS        groups.a  0 rows\n',
    'FAIL 12063  groups.b  12063 rows; allowed: no rows\n',
  ]);
});
