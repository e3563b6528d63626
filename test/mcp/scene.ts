/** A folder with a config, a sandbox and a filled warehouse, for tests of `sluice mcp`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RespondRequest, Responded } from '../../src/sandbox/options.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { runInProcess } from '../cli/in-process.ts';
import { type Ran, temporaryFolder } from '../cli/program-run.ts';
import { SMALL } from '../flow/scene.ts';
import { connect, type McpClient, serverHere } from './client.ts';

export const TOKEN = 'canary-token-7f3a9c';

/** Three groups, each for one point. */
export const CONFIG = `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000, in_flight: 1 }
warehouse: { url: "\${DATABASE_URL}" }
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
  profiles: { endpoint: microblog.user, for_each: { user: [ada, bob] }, max_age: 1d }
`;

export interface McpScene {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly env: Readonly<Record<string, string>>;
  /** Replaces answers of the sandbox; the value of a test stays until the next one sets it. */
  respond: (request: RespondRequest) => Responded | undefined | Promise<Responded | undefined>;
  /** Runs another command in the folder. */
  readonly sluice: (...words: string[]) => Promise<Ran>;
  /** Connects to a server for the current test, in its process. */
  readonly serve: (...words: string[]) => Promise<McpClient>;
  /** Requests for data that reached the sandbox. */
  readonly bought: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a scene on this warehouse, with no rows. */
export async function openMcpScene(databaseUrl: (folder: string) => string): Promise<McpScene> {
  const { path: folder, remove } = await temporaryFolder();
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  const sandbox = await serveSandbox({
    token: TOKEN,
    size: SMALL,
    respond: (request) => scene.respond(request),
  });
  const env = {
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: TOKEN,
    DATABASE_URL: databaseUrl(folder),
    SLUICE_CONFIG: join(folder, 'sluice.yaml'),
  };
  const scene: McpScene = {
    folder,
    sandbox,
    env,
    respond: () => undefined,
    sluice: (...words) => runInProcess(words, { env }),
    serve: async (...words) => (await connect(serverHere(words, env))).client,
    bought: () => sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests').length,
    close: async () => {
      await sandbox.close();
      await remove();
    },
  };
  return scene;
}
