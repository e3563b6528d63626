/** The share of rejects is that of everything a run relies on: same data, same verdict, whether it was sent or stored before. */
import { describe, expect, it } from 'vitest';
import type { Responded } from '../../src/sandbox/options.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const group = (value: string) => ({ '@type': '@pronet_group', urn: { type: 'group', value }, name: 'x' });
const NAMES = Array.from({ length: 13 }, (_, number) => String(1001 + number));
const GONE = NAMES[12] ?? '';

const groups = (name = 'groups', names: readonly string[] = NAMES): string => `${service({ retries: 1 })}
syncs:
  ${name}: { endpoint: pronet.group, for_each: { group: [${names.map((it) => `"${it}"`).join(', ')}] }, max_age: 30d, accept: { rejects: 10% } }
`;

/** Answers 404 to the last input, and to each other what `answer` returns. */
const answering =
  (answer: (name: string) => Responded) =>
  ({ body }: { readonly body: unknown }): Responded => {
    const { group: name } = body as { readonly group: string };
    return name === GONE ? { status: 404, body: '{}' } : answer(name);
  };

/** The ends of a run of all inputs, and of one a day later. */
async function twoDays(scene: Scene) {
  const ended = async () => {
    const { exitCode, state, error, sent } = only(await scene.sync(groups()));
    scene.clock.advance(24 * 3_600_000);
    return { exitCode, state, error, sent };
  };
  return { first: await ended(), second: await ended() };
}

describe('the share of rejects', () => {
  const open = postgresWarehouses();

  it.each<readonly [string, (name: string) => Responded]>([
    ['one item each', (name) => ({ body: [group(name)] })],
    ['no items', () => ({ body: [] })],
    ['an unknown entity each', () => ({ status: 412, body: 'null' })],
  ])('is the same a day later, when stored answers with %s serve all inputs but the failed one', async (_, answer) => {
    const { first, second } = await twoDays(await sceneIn(await open(), { respond: answering(answer) }));
    expect(first).toEqual({ exitCode: 0, state: 'partial', error: null, sent: 13 });
    expect(second).toEqual({ ...first, sent: 1 });
  });

  it('counts the items and rejects of stored answers, and names the total', async () => {
    const respond = answering((name) => ({ body: name === '1001' ? [group(name), group(''), {}] : [group(name)] }));
    const { first, second } = await twoDays(await sceneIn(await open(), { respond }));
    const error = '3 of 15 items and inputs were rejected, more than accept.rejects allows';
    expect(first).toEqual({ exitCode: 4, state: 'partial', error, sent: 13 });
    expect(second).toEqual({ ...first, sent: 1 });
  });

  it('counts what another sync bought', async () => {
    const scene = await sceneIn(await open(), { respond: answering((name) => ({ body: [group(name)] })) });
    await scene.sync(groups('others', NAMES.slice(0, 12)));
    expect(only(await scene.sync(groups()))).toMatchObject({ exitCode: 0, state: 'partial', fresh: 12, failed: 1 });
  });
});
