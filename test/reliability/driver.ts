/** A separate process that carries out an order, and kills itself at a checkpoint if ordered. */
import type { Checkpoint } from '../../src/ledger/kill-points.ts';
import { drive, type Driven, type Order } from './drive.ts';

/** The messages of the process: one at the start, one at the end. */
export type Said = { readonly began: true } | Driven;

/** As JSON in the first argument. */
const order = JSON.parse(process.argv[2] ?? '') as Order;
const say = (said: Said): void => void process.send?.(said);

let times = 0;
const checkpoint = (point: Checkpoint): void => {
  if (point !== order.die?.at) return;
  times += 1;
  if (times === order.die.nth) process.kill(process.pid, 'SIGKILL');
};
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const driven = await drive(order, {
  env: process.env,
  home: process.cwd(),
  onBegin: () => say({ began: true }),
  checkpoint,
  complain: (line) => void process.stderr.write(line),
  signal: stop.signal,
});
if (driven) say(driven);
process.disconnect();
