/**
 * The long form of the scenarios: `npm run reliability -- --seed N`. It writes its figures to `docs/reliability.md`.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { startServer } from '../support/postgres.ts';
import { canMount } from '../support/small-disk.ts';
import { wantedBy } from './command-line.ts';
import { type Draws, drawsOf } from './draws.ts';
import {
  diskGroup,
  faultGroup,
  type Group,
  killGroup,
  oddGroup,
  replaceGroup,
  seconds,
  secondStartGroup,
  settingsGroup,
  startGroup,
  workerGroup,
  writerGroup,
} from './groups.ts';
import { warehouseTemplates } from './warehouse-templates.ts';
import { reportText } from './report.ts';
import { lostCommits, randomConnections, randomExchanges, type Spoil } from './scenarios/faults.ts';
import type { DiskCase } from './scenarios/full-disk.ts';
import { type Death, KILL_POINTS, type KillPoint, randomDeath } from './scenarios/kills.ts';
import { lookAlikeNames, oddTransports, unreadableWindow, wrongPrices } from './scenarios/odd-services.ts';
import { unusualSettings, wrongClock } from './scenarios/settings.ts';
import { undisturbed } from './stage.ts';
import { IN_FLIGHT, LONG_FORM } from './workload.ts';

const { seed, share, only, date, output } = await wantedBy(process.argv.slice(2));
const some = (whole: number): number => Math.max(1, Math.round(whole * share));
const startedAt = performance.now();
const log = (line: string): void => void process.stderr.write(`${seconds(performance.now() - startedAt)} ${line}\n`);

const server = await startServer();
const templates = warehouseTemplates(server.url);
const groups: Group[] = [];
const titles: string[] = [];
try {
  const { oracle, requests, tookMs } = await undisturbed(templates, { ...LONG_FORM, kind: 'postgres' });
  log(`Undisturbed: ${requests} requests`);
  groups.push({
    title: 'Undisturbed',
    done: `One run covers all ten endpoints with ${IN_FLIGHT} calls in flight.`,
    figures: { requests, time: seconds(tookMs) },
    broken: [],
  });
  const bench = { templates, seed, oracle, onProgress: log };
  const play = async (title: string, group: (title: string) => Promise<Group>): Promise<void> => {
    titles.push(title);
    if (title.toLowerCase().includes(only.toLowerCase())) groups.push(await group(title));
  };
  const draws = drawsOf(seed, 'moments');
  // The number of loads varies a little with what the log shows, so a point late in the run may not occur as often.
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
  await play('Kills at named points', (title) =>
    kill(title, `${at(KILL_POINTS)}, at several occurrences of each.`, named),
  );
  await play('Kills at random moments', (title) => kill(title, 'kill -9 from outside, once per run.', random));
  await play('Repeated kills', (title) => kill(title, 'kill -9 from outside, ten times per run.', chains));
  await play('Kills with an embedded warehouse', (title) => kill(title, `${at(few)}.`, embedded, 'embedded'));
  // Each of two workers reaches a point half as often.
  const early = () =>
    KILL_POINTS.map((point): readonly Death[] => [{ at: point, nth: draws.between(1, Math.floor(late / 4)) }]);
  const chain = list(some(4), (): readonly Death[] =>
    KILL_POINTS.map((point): Death => ({ at: point, nth: draws.between(1, 20) })),
  );
  await play('Kills of one of two workers', (title) =>
    workerGroup(
      bench,
      {
        title,
        done: `Two \`worker\` processes share runs in chunks of 20. One gets ${at(KILL_POINTS)}; the other finishes its work.`,
        inCompany: true,
      },
      list(some(3), early).flat(),
    ),
  );
  await play('Kills of successive workers', (title) =>
    workerGroup(
      bench,
      {
        title,
        done: `Seven \`worker\` processes, one after the other, get ${at(KILL_POINTS)}. An eighth finishes their work.`,
        inCompany: false,
      },
      chain,
    ),
  );
  await play('Eight simultaneous starts', (title) => startGroup(bench, title, some(50)));
  await play('A second start', (title) => secondStartGroup(bench, title, some(5)));
  await play('Replacement of a dead holder', (title) => replaceGroup(bench, title, some(4)));
  await play('Two writers on the same keys', (title) => writerGroup(bench, title, some(1000)));
  const disks = list(some(20), (): DiskCase => {
    const filled = { after: draws.between(1, 60), left: draws.between(0, 60) };
    return draws.between(0, 1) === 0 ? { size: draws.between(50, 160) } : { size: draws.between(200, 320), filled };
  });
  if (canMount()) await play('Full disk with an embedded warehouse', (title) => diskGroup(bench, title, disks));
  else log('Full disk: skipped, because this user may not mount a tmpfs');
  const spoil = (what: string, done: string, count: number, spoilOf: (its: Draws) => Spoil): Promise<void> =>
    play(what, (title) => faultGroup(bench, { title, done }, some(count), spoilOf));
  await spoil('Faults of the service', 'One exchange in twelve has a random fault.', 10, (its) => ({
    http: randomExchanges(its),
  }));
  await spoil('Faults of the database', 'Two connections in three have a random fault.', 10, (its) => ({
    postgres: randomConnections(its),
  }));
  await spoil('Faults of both', 'Exchanges and connections have random faults at the same time.', 10, (its) => ({
    http: randomExchanges(its),
    postgres: randomConnections(its),
  }));
  await spoil('Lost commits', 'Each connection breaks during the reply to its third commit.', 3, () => ({
    postgres: lostCommits,
  }));
  const odd = (title: string, done: string, count: number, scenario: Parameters<typeof oddGroup>[3]): Promise<void> =>
    play(title, () => oddGroup(bench, { title, done }, some(count), scenario));
  await odd(
    'Unreadable answers in windows',
    'One to six answers in ten are truncated, HTML, null, empty or an envelope, over four runs. Then the service recovers.',
    40,
    unreadableWindow,
  );
  await odd(
    'Odd transports',
    'Answers have interim responses, headers of up to 240 KiB, or chunks of one byte with trailers; some are truncated. Each service gets five runs.',
    40,
    oddTransports,
  );
  await odd(
    'Similar names',
    'Requested addresses differ only in their query, but all answers show the same address; some are masked.',
    30,
    lookAlikeNames,
  );
  await odd(
    'Wrong and changing prices',
    'Calls cost 1 to 12 points, the config guesses 1, and the price may change during the run; `per_run` is 10 to 60.',
    40,
    wrongPrices,
  );
  const unusual = (title: string, done: string, count: number, scenario: Parameters<typeof settingsGroup>[3]) =>
    play(title, () => settingsGroup(bench, { title, done }, some(count), scenario));
  await unusual(
    'Unusual settings',
    'The database sets unusual values for date style, time zone, array nulls, float digits, isolation and more.',
    12,
    unusualSettings,
  );
  await unusual(
    'Wrong clocks',
    'The clock of the first run is days or a year ahead or behind, and may step; two runs with the true clock follow.',
    12,
    (templates, draws) => wrongClock(templates, draws),
  );
  if (groups.length === 1) throw new Error(`No title contains ${JSON.stringify(only)}. Titles: ${titles.join(', ')}.`);
} finally {
  await templates.end();
  await server.stop();
}
const [cpu] = cpus();
const text = reportText(groups, {
  seed,
  share,
  date,
  command: `npm run reliability -- --seed ${seed}${share === 1 ? '' : ` --share ${share}`}${only === '' ? '' : ` --only ${JSON.stringify(only)}`}`,
  machine: `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), Node ${process.versions.node}`,
  tookMs: performance.now() - startedAt,
});
await writeFile(output, text);
process.exitCode = groups.some(({ broken }) => broken.length > 0) ? 1 : 0;
