/** `checks` of a sync and of `defaults`: names, severities, and what is refused where. */
import { describe, expect, it } from 'vitest';
import { assertCheckColumns } from '../../src/flow/checks/nulls.ts';
import { load, loadSync, problemsOf, unmarked } from './written.ts';

const GROUP = 'endpoint: pronet.group, for_each: { group: ["1"] }';

describe('checks', () => {
  it('have a severity, a position and a name of their own', async () => {
    const { checks = [] } = await loadSync(`  a:
    ${GROUP.replace(', ', '\n    ')}
    checks:
      - { sql: "select 1" }
      - { name: sql_2, severity: warn, rows: { min: 10, max: 20, drop: 30% } }
      - { sql: "select 2" }
      - fresh: 2d
      - { complete: true }
      - { nulls: { column: pronet_users.headline, max: 1% } }
      - { cost: { per_row: 0.5 } }
`);
    expect(checks.map(({ name, severity, rule }) => ({ name, severity, ...rule }))).toEqual([
      { name: 'sql', severity: 'error', kind: 'sql', sql: 'select 1' },
      { name: 'sql_2', severity: 'warn', kind: 'rows', min: 10, max: 20, drop: 0.3 },
      { name: 'sql_3', severity: 'error', kind: 'sql', sql: 'select 2' },
      { name: 'fresh', severity: 'error', kind: 'fresh', maxAgeMs: 2 * 86_400_000 },
      { name: 'complete', severity: 'error', kind: 'complete' },
      {
        name: 'nulls_pronet_users_headline',
        severity: 'error',
        kind: 'nulls',
        table: 'pronet_users',
        column: 'headline',
        max: 0.01,
      },
      { name: 'cost', severity: 'error', kind: 'cost', perRow: 0.5 },
    ]);
    expect(checks[3]?.where).toMatch(/sluice\.yaml:11:9$/);
  });

  it('of defaults apply to each sync without its own, and not after null', async () => {
    const { syncs } = await load(`service: { url: "http://127.0.0.1:8787" }
warehouse: { url: "embedded:wh" }
defaults: { checks: [{ fresh: 1d }] }
syncs:
  a: { ${GROUP} }
  b: { ${GROUP}, checks: [{ complete: true }] }
  c: { ${GROUP}, checks: null }
`);
    expect(syncs.map(({ checks }) => checks?.map(({ name }) => name))).toEqual([['fresh'], ['complete'], undefined]);
    // What is checked has no effect on what is requested, so a changed check continues an open run.
    expect(new Set(syncs.map(({ hash }) => hash)).size).toBe(1);
  });

  it.each([
    [
      'of no kind',
      '«{ name: a }',
      'checks is a mapping; allowed is exactly one of sql, rows, fresh, complete, nulls, cost in each check',
    ],
    [
      'of two kinds',
      '«{ fresh: 1d, complete: true }',
      'checks is a mapping; allowed is exactly one of sql, rows, fresh, complete, nulls, cost in each check',
    ],
    [
      'with a misspelled kind',
      '«{ «row: { min: 1 } }',
      'checks is a mapping; allowed is exactly one of sql, rows, fresh, complete, nulls, cost in each check',
      'unknown key "row"; did you mean "rows"? allowed: name, severity, sql, rows, fresh, complete, nulls, cost',
    ],
    [
      'with rows without a bound',
      '{ rows: «{} }',
      'rows is an empty mapping; allowed is a mapping with at least one of min, max and drop, with min at most max',
    ],
    [
      'with bounds that exclude each other',
      '{ rows: «{ min: 3, max: 2 } }',
      'rows is a mapping; allowed is a mapping with at least one of min, max and drop, with min at most max',
    ],
    [
      'with a share above all',
      '{ rows: { drop: «130% } }',
      'drop is "130%"; allowed is a share from 0% to 100%, such as 1% or 0.01',
    ],
    ['that must not be complete', '{ complete: «false }', 'complete is false; allowed is true'],
    [
      'of a column without a table',
      '{ nulls: { column: «headline } }',
      'column is "headline"; allowed is TABLE.COLUMN, such as pronet_users.headline',
    ],
    [
      'with a name that no metric can carry',
      '{ name: «"a b", fresh: 1d }',
      'name is "a b"; allowed are at most 63 lower-case letters, digits and _, beginning with a letter',
    ],
    [
      'with the name of another',
      '{ name: x, fresh: 1d }, { name: «x, fresh: 2d }',
      'name is x, which another check of the list has; allowed is a name of its own',
    ],
  ])('%s are refused', async (_, list, ...messages) => {
    const { text, places } = unmarked(`  a: { ${GROUP}, checks: [${list}] }`);
    const found = await problemsOf(text);
    expect(found.toSorted()).toEqual(places.map((place, index) => `${place}: ${messages[index]}`).toSorted());
  });

  it('name the nearest table and column when a column is not declared', async () => {
    const columns = ['pronet_users.headline', 'pronet_user.headline', 'pronet_users.hedline', 'nothing_like_it.a'];
    const list = columns.map((column) => `{ nulls: { column: ${column} } }`).join(', ');
    const sync = await loadSync(`  a: { ${GROUP}, checks: [${list}] }`);
    expect(() => assertCheckColumns([sync])).toThrow(
      /^\S+sluice\.yaml:4:\d+: a: no table is named pronet_user; did you mean pronet_users\?\n.*: the table pronet_users has no column hedline; did you mean headline\?\n.*: no table is named nothing_like_it; sluice tables lists all$/,
    );
  });
});
