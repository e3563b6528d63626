/** The checker on a real warehouse: it accepts an undisturbed run, and reports each manipulation. */
import { afterAll, expect, inject, it, onTestFinished } from 'vitest';
import { migrated } from '../support/templates.ts';
import { openClient } from '../../src/extract/client.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { select } from '../flow/rows.ts';
import { warehouseTemplates, withWarehouse } from './warehouse-templates.ts';
import { openStage, type Stage } from './stage.ts';
import { SHORT_FORM } from './workload.ts';

const templates = warehouseTemplates(inject('postgresUrl'), migrated);
afterAll(() => templates.end());

/** SQL manipulations, each with the new violation. */
const TAMPERED: readonly (readonly [statement: string, violation: RegExp])[] = [
  [
    `update sluice.pronet_groups set name = 'other' where urn_value = '1001'`,
    /^pronet_groups differs from an undisturbed run$/,
  ],
  [
    `delete from sluice.pronet_post_reposts where position = 0`,
    /^pronet_post_reposts differs from an undisturbed run$/,
  ],
  [
    `update sluice.microblog_users set _answer_id = (select min(id) from sluice_ops.answers)`,
    /^microblog_users \S+ names answer \d+, which does not contain it$/,
  ],
  [
    `update sluice.pronet_user_search_hits set _answer_id = (select max(id) from sluice_ops.answers)`,
    /^pronet_user_search_hits .* names answer \d+, which does not contain it$/,
  ],
  [
    // Not of groups: askAgain repeats one of them, and then the log has two rows of that request.
    `delete from sluice.fact_request_costs where id = (select id from sluice.fact_request_costs
      where endpoint not like '%token%' and endpoint not like '%group' order by id limit 1)`,
    /^the log has 1 of .*, the table of costs 0$/,
  ],
  [
    `update sluice_ops.answers set loaded = loaded + 1 where id = (select max(id) from sluice_ops.answers)`,
    /^answer \d+: \d+ received, .* counted$/,
  ],
  [
    `insert into sluice_ops.quarantine (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      select id, sync, endpoint, 'PronetGroup', 0, '/0', 'none', now() from sluice_ops.answers order by id limit 1`,
    /^answer \d+: 0 quarantined, 1 in quarantine$/,
  ],
  [
    `update sluice_ops.answers set sha256 = repeat('0', 64) where id = (select min(id) from sluice_ops.answers)`,
    /^answer \d+: its bytes have another digest than the one recorded$/,
  ],
  [
    `update sluice_ops.requests set state = 'planned' where id = (select max(id) from sluice_ops.requests)`,
    /^request \d+ went from loaded to planned$/,
  ],
  [
    `update sluice_ops.leases set token = token + 1, holder = 'one', expires_at = now() + interval '1 hour' where name = 'sync:groups';
      update sluice_ops.leases set token = token + 1, holder = 'two' where name = 'sync:groups'`,
    /^sync:groups: two took it over while one was alive$/,
  ],
];

/** As if midnight had been between the two runs. */
const YESTERDAY = 'update sluice.fact_microblog_user_daily set date = date - 1';

it('the checker accepts an undisturbed run and reports each manipulation', { timeout: 120_000 }, async () => {
  const stage = await openStage(templates, { ...SHORT_FORM, kind: 'postgres' });
  onTestFinished(() => stage.close());
  expect((await stage.startSurvivor().ended).summary).toMatchObject({ exitCode: 0 });
  const { violations, oracle, figures } = await stage.judge(0);
  expect(violations).toEqual([]);
  expect(figures).toMatchObject({ sentAgainAfterStored: 0, inDoubt: 0, arrivals: stage.sandbox.requests().length });
  const reported = async (): Promise<readonly string[]> => (await stage.judge(0, oracle)).violations;

  await withWarehouse(stage.warehouse.url, (warehouse) => select(warehouse, YESTERDAY));
  expect(await reported()).toEqual([]);
  await askAgain(stage);
  expect(await reported()).toContainEqual(expect.stringMatching(/was stored before and fresh$/));
  for (const [statement, words] of TAMPERED) {
    await withWarehouse(stage.warehouse.url, (warehouse) => select(warehouse, statement));
    expect(await reported()).toContainEqual(expect.stringMatching(words));
  }
});

/** Repeats an answered request, as a process would that lost its answer. */
async function askAgain({ sandbox }: Stage): Promise<void> {
  const before = sandbox.requests().find(({ endpoint }) => endpoint === 'pronet.group');
  const client = openClient({
    url: sandbox.url,
    token: new Secret(SANDBOX_TOKEN),
    connections: 1,
    now: () => new Date(),
  });
  await client.send({
    method: 'POST',
    path: '/api/pronet/group',
    body: before?.body as Record<string, unknown>,
    xRequestId: before?.xRequestId ?? '',
  });
  await client.close();
}
