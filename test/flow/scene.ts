/** A sandbox, a warehouse and a clock that play together: what a test of the flow needs to run syncs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Notice, Progress, Summary, SyncSummary } from '../../src/ledger/summary.ts';
import { replayAnswers, type ReplayOptions, type ReplaySummary } from '../../src/flow/replay/replay.ts';
import type { LoggedRequest } from '../../src/sandbox/arrival.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import type { FlowEffects } from '../../src/flow/run/invocation.ts';
import type { SyncOptions } from '../../src/flow/run/sync-run.ts';
import { runSyncs } from '../../src/syncs.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { type Clock, clockFrom } from './clock.ts';

export interface Scene {
  readonly sandbox: Sandbox;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly notices: Notice[];
  readonly progress: Progress[];
  /** Runs the syncs of a config; a passed warehouse or signal replaces the scene's own. */
  readonly sync: (yaml: string, more?: SyncMore) => Promise<Summary>;
  /** Loads stored answers again; a passed warehouse replaces the scene's own. */
  readonly replay: (
    options?: Partial<ReplayOptions>,
    signal?: AbortSignal,
    onProgress?: () => void,
    warehouse?: Warehouse,
  ) => Promise<ReplaySummary>;
  /** What reached the sandbox since this was last called. */
  readonly arrived: () => readonly LoggedRequest[];
}

export interface SyncMore extends Partial<SyncOptions> {
  readonly warehouse?: Warehouse;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  readonly sleep?: Clock['sleep'];
  /** Effects in addition to the scene's own, or instead of them. */
  readonly effects?: Partial<FlowEffects>;
}

/** Sizes at which a world is made in a moment. */
export const SMALL = {
  filings: 500,
  people: 200,
  companies: 40,
  groups: 3,
  posts: 20,
  microblogUsers: 8,
  photoshareUsers: 8,
  pages: 30,
};

/** UUIDs that count upwards; the same for every scene, so that two scenes can be compared. */
export function countingIds(kind: number): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8${String(kind).padStart(3, '0')}-${String(++count).padStart(12, '0')}`;
}

type SceneOptions = SandboxOptions & { readonly start?: string };

/** Sets a scene in this warehouse; its sandbox ends with the test. */
export async function sceneIn(warehouse: Warehouse, options?: SceneOptions): Promise<Scene> {
  const scene = await openScene(warehouse, options);
  onTestFinished(() => scene.sandbox.close());
  return scene;
}

/** Sets a scene that tests of a suite share; the caller closes its sandbox. */
export async function openScene(warehouse: Warehouse, options: SceneOptions = {}): Promise<Scene> {
  const { start, ...given } = options;
  const clock = clockFrom(start);
  const sandbox = await serveSandbox({ seed: 7, size: SMALL, now: clock.now, newId: countingIds(1), ...given });
  const newId = countingIds(2);
  const notices: Notice[] = [];
  const progress: Progress[] = [];
  let seen = 0;
  const effects = { now: clock.now, sleep: clock.sleep, random: () => 0.5, newId };
  return {
    sandbox,
    warehouse,
    clock,
    notices,
    progress,
    sync: async (yaml, { warehouse: other, signal, onProgress, sleep, effects: others, ...more } = {}) =>
      runSyncs(
        await configOf(yaml, sandbox.url),
        other ?? warehouse,
        { names: [], refresh: false, failOnTruncated: false, ...more },
        {
          ...effects,
          ...(sleep && { sleep }),
          onProgress: (it) => {
            progress.push(it);
            onProgress?.(it);
          },
          onNotice: (it) => notices.push(it),
          ...others,
        },
        signal ?? new AbortController().signal,
      ),
    replay: (more, signal, onProgress = () => undefined, other = warehouse) =>
      replayAnswers(
        other,
        { names: [], rebuild: false, quarantined: false, ...more },
        { ...effects, onProgress },
        signal ?? new AbortController().signal,
      ),
    arrived: () => {
      const since = sandbox.requests().slice(seen);
      seen = sandbox.requests().length;
      return since;
    },
  };
}

/** A config from its text; where that says nothing of `service`, calls go one by one without waiting. */
export async function configOf(yaml: string, url: string): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-flow-'));
  const file = join(folder, 'sluice.yaml');
  const env = { SLUICE_SERVICE_URL: url, SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN };
  try {
    await writeFile(file, yaml.includes('service:') ? yaml : `${service()}\n${yaml}`);
    return await loadConfig(file, env);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The service of a config, with its address and these settings. */
export const service = (settings: Readonly<Record<string, number>> = {}): string => {
  const all = { in_flight: 1, requests_per_second: 1_000_000, ...settings };
  const lines = Object.entries(all).map(([name, value]) => `  ${name}: ${value}`);
  return [
    'service:',
    '  url: ${SLUICE_SERVICE_URL}',
    '  token: ${SLUICE_SERVICE_TOKEN}',
    ...lines,
    'warehouse: { url: "embedded:memory" }',
  ].join('\n');
};

/** The summary of the only sync. */
export function only(summary: Summary): SyncSummary {
  const [sync, ...others] = summary.syncs;
  if (!sync || others.length > 0) throw new Error(`${summary.syncs.length} syncs, where one is due`);
  return sync;
}

/** A request, endpoint and body, as one text. */
export const questionOf = ({ endpoint, body }: Pick<LoggedRequest, 'endpoint' | 'body'>): string =>
  canonicalJson([endpoint ?? null, body ?? null]);

/** Questions that were put more than once, with how often. */
export function sentAgain(requests: readonly LoggedRequest[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const request of requests) times.set(questionOf(request), (times.get(questionOf(request)) ?? 0) + 1);
  return new Map([...times].filter(([, count]) => count > 1));
}
