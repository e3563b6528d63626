/** Warehouses for scenarios, of both kinds: migrated once, with recording, and copied for each. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { Secret } from '../../src/config/values/secret.ts';
import { type OpenEffects, openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { copyDatabase } from '../support/copy-database.ts';
import { copyFolder } from '../support/copy-folder.ts';
import { installRecording } from './recording.ts';

/** The warehouse of one scenario. */
export interface ScenarioWarehouse {
  readonly kind: Warehouse['kind'];
  readonly url: string;
  readonly drop: () => Promise<void>;
}

export interface WarehouseTemplates {
  /** Creates the warehouse of a scenario. */
  readonly create: (kind: Warehouse['kind']) => Promise<ScenarioWarehouse>;
  /** Removes the templates; the scenarios drop their own warehouses. */
  readonly end: () => Promise<void>;
}

const effects: OpenEffects = {
  now: () => new Date(),
  sleep: (ms, signal) => wait(ms, undefined, signal && { signal }),
};

/** Opens a warehouse, passes it to the work, and closes it. */
export async function withWarehouse<T>(url: string, look: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, effects);
  try {
    return await look(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** Where migrated warehouses can be copied from. */
interface Migrated {
  /** Returns the name of a database without connections. */
  readonly postgres: () => Promise<string>;
  /** Creates the folder. */
  readonly embedded: (folder: string) => Promise<void>;
}

const NOTHING: Migrated = { postgres: () => Promise.resolve('template0'), embedded: () => Promise.resolve() };

/**
 * Creates warehouses on the Postgres server at the URL, which may create databases, and in temporary folders. The
 * templates are copies of migrated warehouses, or migrated here.
 */
export function warehouseTemplates(server: string, migrated = NOTHING): WarehouseTemplates {
  const onServer = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client({ connectionString: server });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const database = async (template: string): Promise<ScenarioWarehouse> => {
    const name = await onServer((client) => copyDatabase(client, template));
    const url = new URL(server);
    url.pathname = `/${name}`;
    const drop = async (): Promise<void> =>
      void (await onServer((client) => client.query(`drop database if exists ${name} with (force)`)));
    return { kind: 'postgres', url: url.href, drop };
  };
  const folder = async (): Promise<ScenarioWarehouse & { readonly path: string }> => {
    const path = await mkdtemp(join(tmpdir(), 'sluice-reliability-'));
    const drop = (): Promise<void> => rm(path, { recursive: true, force: true });
    return { kind: 'embedded', url: `embedded:${path}`, path, drop };
  };
  const recording = async <P extends ScenarioWarehouse>(created: P): Promise<P> => {
    await withWarehouse(created.url, async (warehouse) => {
      await ensureSchema(warehouse);
      await installRecording(warehouse);
    });
    return created;
  };
  const templates: { postgres?: Promise<ScenarioWarehouse>; embedded?: ReturnType<typeof folder> } = {};
  return {
    create: async (kind) => {
      if (kind === 'postgres') {
        templates.postgres ??= migrated.postgres().then(database).then(recording);
        return database(new URL((await templates.postgres).url).pathname.slice(1));
      }
      templates.embedded ??= folder().then(async (created) => {
        await migrated.embedded(created.path);
        return recording(created);
      });
      const copy = await folder();
      copyFolder((await templates.embedded).path, copy.path);
      return copy;
    },
    end: async () => {
      await Promise.all(
        Object.values(templates).map(async (template) => (await (template as Promise<ScenarioWarehouse>)).drop()),
      );
    },
  };
}
