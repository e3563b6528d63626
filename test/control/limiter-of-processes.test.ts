/** Eight processes on one limiter: never more calls than allowed, never faster than allowed, and a killed one gives its slot back. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { until } from './limiter-calls.ts';
import type { GateCall, GateOrder } from './limiter-process.ts';

const built = await builtProgram();
const IN_FLIGHT = 3;
const PER_SECOND = 40;
const FOR_MS = 18_000;
const EXPIRES_MS = 12_000;
/** A start may come so much after its turn; the next one keeps to its own. */
const LATE_MS = 150;

async function migratedDatabase(): Promise<string> {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  return database.url;
}

interface Started {
  readonly child: ChildProcess;
  /** The words that it has sent. Two that arrive at the same moment would be one for whoever waits for the next one. */
  readonly words: ReadonlySet<unknown>;
  readonly calls: Promise<readonly GateCall[]>;
}

function started(order: GateOrder): Started {
  const child = fork(built.pathOf('test/control/limiter-process.ts'), [JSON.stringify(order)], {
    execArgv: [],
    env: built.env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const words = new Set<unknown>();
  const calls = new Promise<readonly GateCall[]>((resolve, reject) => {
    child.on('message', (message) => {
      words.add(message);
      if (typeof message === 'object') resolve((message as { calls: GateCall[] }).calls);
    });
    child.on('exit', () => reject(new Error('it ended without a word')));
  });
  calls.catch(() => undefined);
  return { child, words, calls };
}

/** The greatest number of concurrent calls. */
function mostAtOnce(spans: readonly (readonly [number, number])[]): number {
  // Of what happens in one millisecond, ends come first.
  const changes = spans
    .flatMap(([from, to]) => [
      [from, 1],
      [to, -1],
    ])
    .toSorted(([a = 0, one = 0], [b = 0, other = 0]) => (a === b ? one - other : a - b));
  let [open, most] = [0, 0];
  for (const [, change = 0] of changes) {
    open += change;
    most = Math.max(most, open);
  }
  return most;
}

it('the limit holds over eight processes, of which one is killed', async () => {
  const warehouseUrl = await migratedDatabase();
  const order = { warehouseUrl, inFlight: IN_FLIGHT, perSecond: PER_SECOND, forMs: FOR_MS, callMs: 100, callers: 2 };
  // It has a call in flight when it is killed.
  const victim = started({ ...order, callMs: 3_600_000, callers: 1 });
  await until(() => victim.words.has('started'));
  const others = Array.from({ length: 7 }, () => started(order));
  await until(() => others.every(({ words }) => words.has('ready')));
  await wait(1000);
  victim.child.kill('SIGKILL');
  const killedMs = Date.now();

  const calls = (await Promise.all(others.map((it) => it.calls))).flat();

  const spans = calls.map(({ takenMs, endedMs }) => [takenMs, endedMs] as const);
  expect(mostAtOnce(spans)).toBe(IN_FLIGHT);
  // Its slot stays taken until its last heartbeat is too long ago, and is there again soon after.
  expect(mostAtOnce(spans.filter(([, to]) => to < killedMs + EXPIRES_MS - 3500))).toBe(IN_FLIGHT - 1);
  expect(mostAtOnce(spans.filter(([from]) => from > killedMs + EXPIRES_MS))).toBe(IN_FLIGHT);

  const starts = calls.map(({ startedMs }) => startedMs).toSorted((a, b) => a - b);
  for (const windowMs of [25, 200, 1000, 5000]) {
    const most = (PER_SECOND * (windowMs + LATE_MS)) / 1000 + 1;
    for (const [index, at] of starts.entries())
      expect(starts.slice(index).filter((it) => it - at < windowMs).length).toBeLessThanOrEqual(most);
  }
  const each = await Promise.all(others.map((it) => it.calls));
  for (const own of each) {
    const mine = own.map(({ startedMs }) => startedMs).toSorted((a, b) => a - b);
    for (const [index, at] of mine.slice(1).entries())
      expect(at - (mine[index] ?? 0)).toBeGreaterThanOrEqual(1000 / PER_SECOND);
  }
  // Processes with slots leave them to others before the work is done.
  expect(each.filter(({ length }) => length > 0).length).toBeGreaterThan(IN_FLIGHT);
});
