/** The long form of the bench: `npm run reliability -- --seed N`. Leaves its figures in `docs/reliability.md`. */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Warehouse } from '../../src/warehouse/connect.ts';
import { startServer } from '../support/postgres.ts';
import { type Draws, drawsOf } from './draws.ts';
import {
  faultGroup,
  type Group,
  killGroup,
  replaceGroup,
  seconds,
  secondStartGroup,
  startGroup,
  workerGroup,
  writerGroup,
} from './groups.ts';
import { groundOn } from './ground.ts';
import { reportText } from './report.ts';
import { lostCommits, randomConnections, randomExchanges, type Spoil } from './scenarios/faults.ts';
import { type Death, KILL_POINTS, type KillPoint, randomDeath } from './scenarios/kills.ts';
import { undisturbed } from './stage.ts';
import { IN_FLIGHT, wholeConfig } from './workload.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    /** The day to put on the page. */
    date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    /** The part of the full counts to do, for trying the bench. */
    share: { type: 'string', default: '1' },
    output: { type: 'string', default: 'docs/reliability.md' },
  },
});
const [seed, share] = [Number(values.seed), Number(values.share)];
const some = (whole: number): number => Math.max(1, Math.round(whole * share));
const startedAt = performance.now();
const tell = (line: string): void => void process.stderr.write(`${seconds(performance.now() - startedAt)} ${line}\n`);

const server = await startServer();
const ground = groundOn(server.url);
const groups: Group[] = [];
try {
  const { oracle, requests, tookMs } = await undisturbed(ground, { kind: 'postgres', configOf: wholeConfig });
  tell(`Undisturbed: ${requests} requests`);
  groups.push({
    title: 'Undisturbed',
    done: `One run over all ten endpoints, ${IN_FLIGHT} calls in flight.`,
    figures: { requests, time: seconds(tookMs) },
    broken: [],
  });
  const bench = { ground, seed, oracle, onProgress: tell };
  const draws = drawsOf(seed, 'moments');
  // A load more or less for what the log has to tell: points late in the run may not come so often.
  const late = requests - 20;
  const occurrences = (): number[] => [1, 2, ...Array.from({ length: some(4) }, () => draws.between(3, late))];
  const list = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

  const kill = (
    title: string,
    done: string,
    all: readonly (readonly Death[])[],
    kind: Warehouse['kind'] = 'postgres',
  ) => killGroup(bench, { title, done, kind }, all);
  const at = (points: readonly KillPoint[]): string => `kill -9 at ${points.map((it) => `\`${it}\``).join(', ')}`;
  const named = KILL_POINTS.flatMap((point) => occurrences().map((nth): readonly Death[] => [{ at: point, nth }]));
  const random = list(some(200), (): readonly Death[] => [randomDeath(draws, requests)]);
  const chains = list(some(4), (): readonly Death[] => list(10, () => randomDeath(draws, Math.round(requests / 10))));
  const few = KILL_POINTS.slice(0, some(KILL_POINTS.length));
  const embedded = few.map((point): readonly Death[] => [{ at: point, nth: draws.between(3, late) }]);
  groups.push(
    await kill('Killed at named points', `${at(KILL_POINTS)}; each at several occurrences.`, named),
    await kill('Killed at random moments', 'kill -9 from outside, once a run.', random),
    await kill('Killed again and again', 'kill -9 from outside, ten times a run.', chains),
    await kill('Killed, embedded warehouse', `${at(few)}.`, embedded, 'embedded'),
  );
  // Two that share the work come to a point half as often each.
  const early = () =>
    KILL_POINTS.map((point): readonly Death[] => [{ at: point, nth: draws.between(1, Math.floor(late / 4)) }]);
  const chain = list(some(4), (): readonly Death[] =>
    KILL_POINTS.map((point): Death => ({ at: point, nth: draws.between(1, 20) })),
  );
  groups.push(
    await workerGroup(
      bench,
      {
        title: 'Workers killed beside others',
        done: `Two \`worker\` processes share runs in chunks of 20; one gets ${at(KILL_POINTS)}, the other ends its work.`,
        inCompany: true,
      },
      list(some(3), early).flat(),
    ),
    await workerGroup(
      bench,
      {
        title: 'Workers killed one after the other',
        done: `Seven \`worker\` processes, one after the other, get ${at(KILL_POINTS)}; an eighth ends their work.`,
        inCompany: false,
      },
      chain,
    ),
  );
  groups.push(await startGroup(bench, some(50)));
  groups.push(await secondStartGroup(bench, some(5)));
  groups.push(await replaceGroup(bench, some(4)));
  groups.push(await writerGroup(bench, some(1000)));
  const spoil = (title: string, done: string, count: number, spoilOf: (its: Draws) => Spoil): Promise<Group> =>
    faultGroup(bench, { title, done }, some(count), spoilOf);
  groups.push(
    await spoil('Service spoiled', 'One exchange in twelve goes wrong, in a random way.', 10, (its) => ({
      http: randomExchanges(its),
    })),
    await spoil('Database spoiled', 'Two connections in three go wrong, in a random way.', 10, (its) => ({
      postgres: randomConnections(its),
    })),
    await spoil('Both spoiled', 'Both at once.', 10, (its) => ({
      http: randomExchanges(its),
      postgres: randomConnections(its),
    })),
    await spoil('Lost commits', 'Each connection breaks under the reply to its third commit.', 3, () => ({
      postgres: lostCommits,
    })),
  );
} finally {
  await ground.end();
  await server.stop();
}
const [cpu] = cpus();
const text = reportText(groups, {
  seed,
  share,
  date: values.date,
  command: `npm run reliability -- --seed ${seed}${share === 1 ? '' : ` --share ${share}`}`,
  machine: `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), Node ${process.versions.node}`,
  tookMs: performance.now() - startedAt,
});
await writeFile(values.output, text);
process.exitCode = groups.some(({ broken }) => broken.length > 0) ? 1 : 0;
