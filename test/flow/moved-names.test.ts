/** Presence of entities that are requested by name: an alias or an address that moves to another entity is no evidence. */
import { expect, it } from 'vitest';
import { anyWarehouse, type Open } from '../support/warehouse.ts';
import { profile } from './names.ts';
import { select } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

interface Lookup {
  readonly endpoint: string;
  readonly field: string;
  readonly table: string;
  readonly key: string;
  readonly item: (id: string) => object;
}

const LOOKUPS = {
  profile: {
    endpoint: 'photoshare.user',
    field: 'user',
    table: 'photoshare_users',
    key: 'id',
    item: (id) => profile(id, 'alice'),
  },
  account: {
    endpoint: 'microblog.user',
    field: 'user',
    table: 'microblog_users',
    key: 'rest_id',
    item: (id) => ({ rest_id: id, alias: 'alice', name: 'N' }),
  },
  group: {
    endpoint: 'pronet.group',
    field: 'group',
    table: 'pronet_groups',
    key: 'urn_value',
    item: (id) => ({ urn: { type: 'group', value: id }, name: 'N', url: 'https://pronet.example/g', member_count: 1 }),
  },
} as const satisfies Record<string, Lookup>;

/** An address that all three endpoints take. */
const ADDRESS = 'https://pronet.example/g';

/** The ids that the service returns; `no such` is an answer of status 412. */
type Reply = readonly string[] | 'no such';

/** A service with the replies of a test, and what its answers show about the entities of one kind. */
async function lookups(open: Open, kind: keyof typeof LOOKUPS) {
  const { endpoint, field, table, key, item } = LOOKUPS[kind];
  let reply: Reply = [];
  const scene = await sceneIn(await open(), {
    respond: () =>
      reply === 'no such' ? { status: 412, body: { detail: 'not found' } } : { body: reply.map((id) => item(id)) },
  });
  return {
    /** Requests the entity of a name; returns the instant of the answer. */
    ask: async (name: string, next: Reply): Promise<string> => {
      reply = next;
      scene.clock.advance(60_000);
      const names = JSON.stringify([name]);
      const yaml = `${service()}\nsyncs:\n  s: { endpoint: ${endpoint}, for_each: { ${field}: ${names} } }\n`;
      expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, sent: 1 });
      const rows = await select<{ at: Date }>(scene.warehouse, 'select max(received_at) as at from sluice_ops.answers');
      return String(rows[0]?.at.toISOString());
    },
    /** By entity, the instant since when it is missing; null if it is not. */
    missing: async (): Promise<Record<string, string | null>> => {
      const rows = await select<{ key: string; since: Date | null }>(
        scene.warehouse,
        `select ${key} as key, _missing_since as since from sluice.${table}_presence order by 1`,
      );
      return Object.fromEntries(rows.map(({ key: id, since }) => [id, since?.toISOString() ?? null]));
    },
  };
}

anyWarehouse('an entity whose name moved to another', (open) => {
  it.each([
    ['profile', 'alice'],
    ['profile', '@alice'],
    ['profile', ADDRESS],
    ['account', 'alice'],
    ['account', ADDRESS],
    ['group', ADDRESS],
  ] as const)('is not missing: %s %s', async (kind, name) => {
    const { ask, missing } = await lookups(open, kind);
    await ask(name, ['1']);
    await ask(name, ['2']);
    expect(await missing()).toEqual({ 1: null, 2: null });
    await ask(name, ['1']);
    expect(await missing()).toEqual({ 1: null, 2: null });
  });

  it('is not missing when the name then leads nowhere, but the entity that had it last is', async () => {
    const { ask, missing } = await lookups(open, 'profile');
    await ask('alice', ['1']);
    await ask('alice', ['2']);
    const since = await ask('alice', 'no such');
    expect(await missing()).toEqual({ 1: null, 2: since });
  });

  it('is missing once the service knows no such id, and seen again when any answer contains it', async () => {
    const { ask, missing } = await lookups(open, 'profile');
    await ask('alice', ['1']);
    await ask('1', ['1']);
    await ask('alice', ['2']);
    const since = await ask('1', 'no such');
    expect(await missing()).toEqual({ 1: since, 2: null });
    await ask('alicia', ['1']);
    expect(await missing()).toEqual({ 1: null, 2: null });
  });
});

anyWarehouse('an entity that is requested by name', (open) => {
  it.each([
    ['profile', 'alice', 'no such'],
    ['profile', 'alice', []],
    ['profile', '1', 'no such'],
    ['profile', '1', []],
    ['account', ADDRESS, []],
    ['group', '1', []],
    ['group', '1', ['2']],
    ['group', 'urn:li:group:1', ['2']],
  ] as const)('is missing since the answer that proves it, and seen again: %s %s %j', async (kind, name, reply) => {
    const { ask, missing } = await lookups(open, kind);
    await ask(name, ['1']);
    const since = await ask(name, reply);
    expect(await missing()).toMatchObject({ 1: since });
    await ask(name, ['1']);
    expect(await missing()).toMatchObject({ 1: null });
  });
});
