/** Runs against services with odd answers: unreadable answers, odd transports, similar names, wrong prices. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Draws } from '../draws.ts';
import { type WarehouseTemplates, withWarehouse } from '../warehouse-templates.ts';
import { type Call, type OddService, ok, type Reply, startOddService } from '../odd-service.ts';
import { type Ended, startSluice } from '../processes.ts';

export interface OddRun {
  readonly violations: readonly string[];
  /** Calls that cost points. */
  readonly calls: number;
  readonly points: number;
  /** Number of runs that were started. */
  readonly runs: number;
}

interface Played {
  readonly service: OddService;
  /** Runs `sluice` with these arguments and `--config`. */
  readonly sluice: (...words: string[]) => Promise<Ended>;
  readonly rows: (statement: string) => Promise<number>;
}

interface Play {
  readonly yaml: string;
  readonly reply: (call: Call) => Reply;
  /** Starts `sluice`, in a process or here. */
  readonly launch: typeof startSluice;
}

async function play(
  templates: WarehouseTemplates,
  { yaml, reply, launch }: Play,
  act: (played: Played) => Promise<readonly string[]>,
): Promise<OddRun> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-odd-'));
  const database = await templates.create('postgres');
  const service = await startOddService(reply);
  const config = join(home, 'sluice.yaml');
  let runs = 0;
  try {
    await writeFile(config, yaml);
    const violations = await act({
      service,
      sluice: (...words) => {
        runs += 1;
        const surroundings = { serviceUrl: service.url, warehouseUrl: database.url, home };
        return launch([...words, '--config', config], surroundings).ended;
      },
      rows: (statement) =>
        withWarehouse(database.url, async ({ db }) => {
          const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.raw(statement)}`.execute(db);
          return rows[0]?.n ?? 0;
        }),
    });
    return { violations, calls: service.calls().length, points: service.pointsSpent(), runs };
  } finally {
    await service.close();
    await database.drop();
    await rm(home, { recursive: true, force: true });
  }
}

const yamlOf = (syncs: string, { inFlight = 2, budget = '' } = {}): string => `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  in_flight: ${inFlight}
  requests_per_second: 1000000
  retries: 1
warehouse: { url: "\${DATABASE_URL}" }
${budget}
syncs:
${syncs}
`;

const dayAfter = (days: number): string => new Date(Date.UTC(2024, 0, 1 + days)).toISOString().slice(0, 10);

const UNREADABLE = ['[{"@type":"@sec_filing","accession', '<html>busy</html>', 'null', '', '{"data":[]}'];
const RUNS = 4;

/** A window with unreadable answers: gaps are named and requested again, and nothing else is bought. */
export function unreadableWindow(templates: WarehouseTemplates, draws: Draws, launch = startSluice): Promise<OddRun> {
  const days = draws.between(5, 60);
  const count = draws.between(10, 60);
  const perDay = Array.from({ length: days }, () => (draws.chance(0.3) ? 0 : draws.between(1, Math.min(9, count - 1))));
  const truth = perDay.reduce((sum, items) => sum + items, 0);
  const share = draws.pick([0.1, 0.3, 0.6]);
  let isSpoiled = true;
  const reply = ({ body }: Call): Reply => {
    if (isSpoiled && draws.chance(share)) return { bytes: ok(draws.pick(UNREADABLE)) };
    const items = perDay.flatMap((items, day) => {
      const date = dayAfter(day);
      if (date < String(body['date_from']) || date > String(body['date_to'])) return [];
      return Array.from({ length: items }, (_, n) => filing(date, n));
    });
    return { bytes: ok(JSON.stringify(items.slice(0, Number(body['count'])))) };
  };
  const yaml = yamlOf(`  filings:
    endpoint: sec.search.companies
    request: { count: ${count} }
    window: { from: ${dayAfter(0)}, to: ${dayAfter(days - 1)} }
    max_age: 1d`);
  return play(templates, { yaml, reply, launch }, async ({ service, sluice, rows }) => {
    const violations: string[] = [];
    let before = 0;
    for (let run = 1; run <= RUNS; run++) {
      const { code } = await sluice('sync');
      const loaded = await rows('sluice.sec_filings');
      if (code === 0 && loaded !== truth) violations.push(`run ${run}: exit 0 with ${loaded} of ${truth} filings`);
      if (code !== 0 && code !== 4 && code !== 5) violations.push(`run ${run}: exit ${code}`);
      const calls = service.calls().length - before;
      before += calls;
      if (calls > 2 * days) violations.push(`run ${run}: ${calls} requests for ${days} days`);
    }
    isSpoiled = false;
    const { code } = await sluice('sync', '--refresh');
    const loaded = await rows('sluice.sec_filings');
    if (code !== 0 || loaded !== truth) violations.push(`afterwards: exit ${code} with ${loaded} of ${truth} filings`);
    const calls = service.calls().length;
    const again = await sluice('sync');
    if (again.code !== 0 || service.calls().length > calls) violations.push('complete requests were sent again');
    return violations;
  });
}

const filing = (date: string, n: number) => ({
  '@type': '@sec_filing',
  accession_number: `${date}-${n}`,
  file_name: 'a.htm',
  document_url: `https://filings.example/${date}/${n}`,
  file_date: date,
});

const user = (alias: string): string =>
  JSON.stringify([
    { internal_id: `i${alias}`, rest_id: `r${alias}`, name: alias, alias, url: `https://m.example/${alias}` },
  ]);

/** Transports that HTTP allows: each answer must be loaded, and bought once. */
const ALLOWED: readonly ((body: string, draws: Draws) => string)[] = [
  (body) => `HTTP/1.1 100 Continue\r\n\r\n${ok(body)}`,
  (body, draws) => 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(draws.between(1, 5)) + ok(body),
  (body) => `HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${ok(body)}`,
  (body, draws) => ok(body, { 'x-large': 'h'.repeat(draws.between(17, 240) * 1024) }),
  (body, draws) =>
    ok(body, Object.fromEntries(Array.from({ length: draws.between(50, 400) }, (_, n) => [`x-${n}`, 'v'.repeat(99)]))),
  (body) =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body
      .split('')
      .map((it) => `1;ext=1\r\n${it}\r\n`)
      .join('')}0\r\nx-trailer: 1\r\n\r\n`,
];

/** Transports that lose the answer: bought again by later runs, but not forever. */
const LOSING: readonly ((body: string) => string)[] = [
  (body) => ok(body).slice(0, 40),
  (body) => ok(body).slice(0, -5),
  () => '',
  (body) => `HTTP/1.1 100 Continue\r\n\r\n${ok(body).slice(0, 30)}`,
];

/** Attempts per invocation (`retries: 1`), times the invocations before a request is given up. */
const MOST_PURCHASES = 2 * 3;

/** Inputs whose answers have odd transports. */
export function oddTransports(templates: WarehouseTemplates, draws: Draws, launch = startSluice): Promise<OddRun> {
  const inputs = Array.from({ length: 8 }, (_, n) => {
    const isAllowed = draws.chance(0.7);
    return { alias: `user${n}`, isAllowed, write: isAllowed ? draws.pick(ALLOWED) : draws.pick(LOSING) };
  });
  const reply = ({ body }: Call): Reply => {
    const input = inputs.find(({ alias }) => alias === body['user']);
    if (!input) throw new Error(`unexpected request ${JSON.stringify(body)}`);
    return { bytes: input.write(user(input.alias), draws), resets: !input.isAllowed };
  };
  const yaml = yamlOf(`  users:
    endpoint: microblog.user
    for_each: { user: [${inputs.map(({ alias }) => alias).join(', ')}] }
    max_age: 1d`);
  return play(templates, { yaml, reply, launch }, async ({ service, sluice, rows }) => {
    for (let run = 1; run <= 5; run++) await sluice('sync');
    const allowed = inputs.filter(({ isAllowed }) => isAllowed);
    const loaded = await rows('sluice.microblog_users');
    const bought = inputs.map(
      ({ alias, isAllowed }) =>
        [alias, isAllowed, service.calls().filter(({ body }) => body['user'] === alias).length] as const,
    );
    return [
      ...(loaded === allowed.length ? [] : [`${loaded} of ${allowed.length} rows`]),
      ...bought.flatMap(([alias, isAllowed, times]) =>
        times > (isAllowed ? 1 : MOST_PURCHASES) ? [`${alias} was bought ${times} times`] : [],
      ),
    ];
  });
}

/** Addresses that differ only in their query, all shown at one address: each is requested once. */
export function lookAlikeNames(templates: WarehouseTemplates, draws: Draws, launch = startSluice): Promise<OddRun> {
  const shown = draws.pick(['https://p.example/profile', 'https://p.example/profile.php', 'https://p.example/u/']);
  const names = Array.from({ length: draws.between(2, 9) }, (_, n) => `${shown}?${draws.pick(['id', 'p', 'u'])}=${n}`);
  const endpoint = draws.pick(['photoshare.user', 'microblog.user']);
  const reply = ({ body }: Call): Reply => {
    const id = String(names.indexOf(String(body['user'])));
    const isMasked = draws.chance(0.5);
    const item = {
      id,
      internal_id: id,
      rest_id: id,
      name: isMasked ? 'Member' : id,
      alias: isMasked ? 'member' : id,
      url: shown,
    };
    return { bytes: ok(JSON.stringify([item])) };
  };
  const yaml = yamlOf(`  users:
    endpoint: ${endpoint}
    for_each: { user: ${JSON.stringify(names)} }
    max_age: 1d`);
  return play(templates, { yaml, reply, launch }, async ({ service, sluice, rows }) => {
    const first = await sluice('sync');
    const bought = service.calls().length;
    const loaded = await rows(`sluice.${endpoint === 'photoshare.user' ? 'photoshare_users' : 'microblog_users'}`);
    const second = await sluice('sync');
    return [
      ...(first.code === 0 && second.code === 0 ? [] : [`exit ${first.code}, then ${second.code}`]),
      ...(bought === names.length ? [] : [`${bought} of ${names.length} were requested`]),
      ...(loaded === names.length ? [] : [`${loaded} rows of ${names.length}`]),
      ...(service.calls().length === bought ? [] : ['fresh requests were sent again']),
    ];
  });
}

/** A price that the config does not know and that may change during the run: a limit applies to true points. */
export function wrongPrices(templates: WarehouseTemplates, draws: Draws, launch = startSluice): Promise<OddRun> {
  const inFlight = draws.between(1, 4);
  const limit = draws.between(10, 60);
  const [price, later] = [draws.between(1, 12), draws.between(1, 12)];
  const changeAfter = draws.chance(0.5) ? draws.between(1, 20) : Number.POSITIVE_INFINITY;
  const inputs = 100;
  const reply = ({ number, body }: Call): Reply => ({
    bytes: ok(user(String(body['user']))),
    points: number > changeAfter ? later : price,
  });
  const yaml = yamlOf(
    `  users:
    endpoint: microblog.user
    for_each: { user: [${Array.from({ length: inputs }, (_, n) => `user${n}`).join(', ')}] }`,
    { inFlight, budget: `budget: { per_run: ${limit} }` },
  );
  return play(templates, { yaml, reply, launch }, async ({ service, sluice }) => {
    const violations: string[] = [];
    let before = 0;
    for (let run = 1; run <= 2; run++) {
      const { code } = await sluice('sync');
      const spent = service.pointsSpent() - before;
      before += spent;
      const most = limit + inFlight * Math.max(price, later);
      if (spent > most) violations.push(`run ${run}: ${spent} points spent where ${limit} are allowed`);
      if (code !== 6 && !(code === 0 && service.calls().length === inputs)) violations.push(`run ${run}: exit ${code}`);
    }
    return violations;
  });
}
