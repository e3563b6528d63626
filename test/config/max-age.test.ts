/** A learned `max_age` in a config: its bounds, and the syncs that cannot have one. */
import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/day.ts';
import { fileProblems, load } from './written.ts';

const HEAD = 'service: { url: "http://127.0.0.1:8787" }\nwarehouse: { url: "embedded:wh" }\n';
const AUTO = 'max_age: { auto: [1d, 30d] }';
const users = `  users: { endpoint: microblog.user, request: { user: a }`;
const filings = '  filings: { endpoint: sec.search.companies, request: { count: 10 }, window: { from: 2026-01-01 }';
const costs = '  costs: { endpoint: token.requests';

it('defaults give a learned age to syncs that can have one, and its least age to windows', async () => {
  const { syncs } = await load(`${HEAD}defaults: { ${AUTO} }\nsyncs:\n${users} }\n${filings} }\n${costs} }\n`);
  expect(syncs.map(({ name, maxAgeMs, autoAge }) => [name, maxAgeMs, autoAge])).toEqual([
    ['users', 30 * DAY_MS, { leastMs: DAY_MS, mostMs: 30 * DAY_MS }],
    ['filings', DAY_MS, undefined],
    ['costs', undefined, undefined],
  ]);
});

it.each([
  ['a window', `${filings}, ${AUTO} }\n`, "can't be learned for a window or the request log"],
  ['the request log', `${costs}, ${AUTO} }\n`, "can't be learned for a window or the request log"],
  ['bounds in the wrong order', `${users}, max_age: { auto: [30d, 1d] } }\n`, 'two durations, the smaller one first'],
  ['one bound', `${users}, max_age: { auto: [1d] } }\n`, 'two durations, the smaller one first'],
  ['no duration', `${users}, max_age: { auto: [1d, soon] } }\n`, 'auto is "soon"; allowed is a duration'],
  ['another key', `${users}, max_age: { learn: true } }\n`, 'auto: [1d, 30d]'],
])('a learned age of %s is refused', async (_, sync, because) => {
  expect(await fileProblems(`${HEAD}syncs:\n${sync}`)).toEqual([expect.stringContaining(because)]);
});
