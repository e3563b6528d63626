/**
 * An embedded warehouse on a small disk that is full or fills up during a sync; then the disk is enlarged, and the sync
 * runs again.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveSandbox } from '../../../src/sandbox/serve.ts';
import { select } from '../../flow/rows.ts';
import { sentAgain } from '../../flow/scene.ts';
import { mib, smallDisk } from '../../support/small-disk.ts';
import { withWarehouse } from '../warehouse-templates.ts';
import { startSluice } from '../processes.ts';

export interface DiskCase {
  /** Mebibytes. */
  readonly size: number;
  /** Mebibytes of the disk at a run before, which are too few. */
  readonly before?: number;
  /** After this many requests, a file takes all space except `left` mebibytes. */
  readonly filled?: { readonly after: number; readonly left: number };
}

export interface DiskEnd {
  /** Exit codes of the run on the full disk and of the run after it; first that of the run on a smaller disk, if any. */
  readonly codes: readonly (number | null)[];
  readonly firstMs: number;
  readonly spooled: number;
  readonly boughtFirst: number;
  readonly bought: number;
  readonly boughtTwice: number;
  /** Answers in the warehouse at the end, and those with loaded rows. */
  readonly stored: number;
  readonly loaded: number;
  readonly wrote: string;
}

const groups = (count: number): string => Array.from({ length: count }, (_, index) => `"${1001 + index}"`).join(', ');
const configOf = (groupCount: number): string => `
service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", in_flight: 4, requests_per_second: 1000 }
warehouse: { url: "embedded:warehouse" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${groups(groupCount)}] }, max_age: 30d }
  filings: { endpoint: sec.search.companies, request: { count: 100 }, window: { from: 2026-01-05, to: 2026-02-05 }, max_age: 30d }
`;
const WORLD = { seed: 7, size: { filings: 5000, companies: 40, groups: 40, people: 100 } };
const FILLER = 'filler';
const ROOM_MIB = 1024;

/** Runs one case with so many groups; `second` starts the run with room. Throws if mounts are not allowed. */
export async function fullDisk(
  { size, before, filled }: DiskCase,
  groupCount = 40,
  second = startSluice,
): Promise<DiskEnd> {
  const disk = smallDisk(before ?? size);
  let arrived = 0;
  const sandbox = await serveSandbox({
    ...WORLD,
    respond: async ({ endpoint }) => {
      if (endpoint !== 'token.requests' && ++arrived === filled?.after) await disk.fill(FILLER, mib(filled.left));
      return undefined;
    },
  });
  try {
    const file = join(disk.folder, 'sluice.yaml');
    await writeFile(file, configOf(groupCount));
    const warehouseUrl = `embedded:${join(disk.folder, 'warehouse')}`;
    const run = (start = startSluice) =>
      start(['sync', '--json', '--config', file], { serviceUrl: sandbox.url, warehouseUrl, home: disk.folder }).ended;
    const bought = () => sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests');
    const refused = before === undefined ? [] : [await run()];
    disk.resize(size);
    const first = await run();
    const boughtFirst = bought().length;
    const files = await readdir(join(disk.folder, 'warehouse', 'spool')).catch((): string[] => []);
    disk.resize(ROOM_MIB);
    await rm(join(disk.folder, FILLER), { force: true });
    const last = await run(second);
    const [found] = await withWarehouse(warehouseUrl, (warehouse) =>
      select<{ stored: number; loaded: number }>(
        warehouse,
        "select count(*)::int as stored, count(loaded_at)::int as loaded from sluice_ops.answers where endpoint <> 'token.requests'",
      ),
    );
    const again = sentAgain(bought());
    return {
      codes: [...refused, first, last].map(({ code }) => code),
      firstMs: first.tookMs,
      spooled: files.filter((name) => name.endsWith('.answer')).length,
      boughtFirst,
      bought: bought().length,
      boughtTwice: [...again.values()].reduce((sum, count) => sum + count - 1, 0),
      stored: found?.stored ?? 0,
      loaded: found?.loaded ?? 0,
      wrote: [...refused, first, last].map(({ wrote }) => wrote).join('\n'),
    };
  } finally {
    await sandbox.close();
    disk.drop();
  }
}

/** Returns what a case broke; empty if all holds. */
export function brokenBy({ codes, bought, boughtTwice, stored, loaded, wrote }: DiskEnd): readonly string[] {
  return [
    ...codes
      .slice(0, -1)
      .flatMap((code) => (code === 5 || code === 0 ? [] : [`the run on the full disk ended with ${code}: ${wrote}`])),
    ...(codes.at(-1) === 0 ? [] : [`the run with room ended with ${codes.at(-1)}: ${wrote}`]),
    ...(boughtTwice === 0 ? [] : [`${boughtTwice} requests were bought twice`]),
    ...(stored === bought && loaded === bought ? [] : [`${bought} bought, ${stored} stored, ${loaded} loaded`]),
  ];
}
