/** The log of a role while its database is away: each error once a minute, however many pollers meet it. */
import { expect, it } from 'vitest';
import { errorLogger } from '../../src/cli/engine.ts';
import { createLog } from '../../src/telemetry/log.ts';

it('an error that every poller of every queue meets each second is logged once a minute', () => {
  let atMs = 0;
  const lines: string[] = [];
  const now = () => new Date(atMs);
  const log = createLog({ style: 'json', level: 'warn', write: (line) => lines.push(line), redact: (it) => it, now });
  const onError = errorLogger({ log, now });
  for (let second = 0; second < 90; second += 1) {
    atMs = second * 1000;
    for (const of of ['sync, Worker: 1', 'sync, Worker: 2', 'chunk, Worker: 3'])
      onError(new Error(`connect ECONNREFUSED 127.0.0.1:5432 (Queue: ${of})`));
    onError(new Error('connect ECONNREFUSED 127.0.0.1:5432'));
    if (second === 10) onError(new Error('the database system is starting up (Queue: sync, Worker: 1)'));
  }
  expect(lines.map((it) => (JSON.parse(it) as { because: string }).because)).toEqual([
    'connect ECONNREFUSED 127.0.0.1:5432',
    'the database system is starting up',
    'connect ECONNREFUSED 127.0.0.1:5432',
  ]);
});
