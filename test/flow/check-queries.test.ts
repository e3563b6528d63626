/** What is wrong with queries of `for_each` is found without reading a row, on both kinds of warehouse. */
import { beforeAll, expect, it } from 'vitest';
import { checkQueries } from '../../src/flow/queries/check-queries.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { configOf, service } from './scene.ts';

const head = `${service()}
syncs:
`;
const child = (endpoint: string, forEach: string, more = ''): string => `${head}  child:
    endpoint: ${endpoint}
    ${more}
    for_each:
      ${forEach}
`;
const users = (query: string): string => child('microblog.user', `query: ${JSON.stringify(query)}`);
const schools = (query: string): string =>
  child('pronet.user.education', `urn: { query: ${JSON.stringify(query)} }`, 'request: { count: 10 }');
/** Line and column of the source. */
const AT = /sluice\.yaml:\d+:\d+: child: /;

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    'an unknown table',
    users('select alias as user from microblog_user'),
    /"microblog_user" does not exist.*line 1, column 27[^]*Did you mean microblog_users\?/,
  ],
  ['an unknown column', users('select aliass as user\nfrom microblog_users'), /aliass/],
  [
    'a wrong alias',
    users('select alias as usr from microblog_users'),
    /no field "usr"; did you mean "user"\? allowed: user, timeout/,
  ],
  [
    'a missing field',
    child('pronet.user.education', 'query: "select count(*) as count from microblog_users"'),
    /missing: urn/,
  ],
  [
    'half a URN',
    schools('select urn_type, alias from pronet_users'),
    /the columns are urn_type, alias; allowed is one column, one named urn, or type and value/,
  ],
  [
    'a column of another type',
    users('select alias as user, true as timeout from microblog_users'),
    /"timeout" contains true or false; timeout accepts a whole number/,
  ],
  [
    'a list for a text',
    users('select array_agg(alias) as user from microblog_users'),
    /"user" contains lists; user accepts text/,
  ],
  [
    'a field that the sync sets',
    child(
      'microblog.user',
      'query: "select alias as user, 30 as timeout from microblog_users"',
      'request: { timeout: 60 }',
    ),
    /timeout is set by request and by for_each/,
  ],
  [
    'a statement that writes',
    users("insert into microblog_users (rest_id) values ('1') returning rest_id as user"),
    /must not begin with INSERT/,
  ],
  [
    'a WITH that writes',
    users('with gone as (delete from microblog_users returning alias) select alias as user from gone'),
    /would change data/,
  ],
  ['a table made of it', users('select alias as user into temporary copied from microblog_users'), /refuses|change/],
  ['locked rows', users('select alias as user from microblog_users for update'), /change data/],
  [
    'several statements',
    users('select alias as user from microblog_users; select 1'),
    /several statements; allowed is one/,
  ],
  ['a syntax error', users('select alias as user frm microblog_users'), /syntax error.*line 1, column/],
  ['an empty query', users(' -- nothing'), /The query is empty/],
];
const TAKEN: readonly (readonly [string, string])[] = [
  ['columns that are fields', users('select alias as user, 60 as timeout from microblog_users; ')],
  ['the age of an input', users("select alias as user, '7d' as max_age from microblog_users -- all of them")],
  ['one column of any name', schools('select urn_value from pronet_users')],
  [
    'a URN as type and value',
    schools('with found as (select * from pronet_users) select urn_type as type, urn_value as value from found'),
  ],
  [
    'a URN as the warehouse names it',
    child('pronet.user.education', 'query: "select urn_type, urn_value from pronet_users"', 'request: { count: 10 }'),
  ],
  [
    'values without a table',
    users('values (null)').replace('query:', 'user: { query:').replace('"values (null)"', '"values (\'ada\')" }'),
  ],
  ['a text of unknown type', users('select null as user')],
];

eachWarehouse('queries of for_each', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });
  const found = async (yaml: string, place: Pick<Warehouse, 'schema' | 'session' | 'isRemote'>): Promise<string> => {
    const { syncs } = await configOf(yaml, 'http://127.0.0.1:1');
    return checkQueries(place, syncs).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
  };

  it.each(REFUSED)('are refused with %s', async (_, yaml, message) => {
    const text = await found(yaml, warehouse);
    expect(text).toMatch(/^UsageError: /);
    expect(text).toMatch(AT);
    expect(text).toMatch(message);
    // Through the owner of an embedded warehouse, which runs no cursors for readers.
    expect(await found(yaml, { ...warehouse, isRemote: true })).toMatch(/^UsageError: /);
  });

  it.each(TAKEN)('are taken with %s', async (_, yaml) => {
    expect(await found(yaml, warehouse)).toBe('taken');
    expect(await found(yaml, { ...warehouse, isRemote: true })).toBe('taken');
  });

  it('are not run', async () => {
    const yaml = users('select alias as user, pg_sleep(3600)::text as max_age from (values (null)) as v(alias)');
    expect(await found(yaml, warehouse)).toBe('taken');
  });
});
