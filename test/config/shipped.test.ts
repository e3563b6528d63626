/** The files that are shipped and the one that `init` writes load as they are, and show all there is. */
import { resolve } from 'node:path';
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { SyncDefinition } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import { settable } from '../../src/config/request-fields.ts';
import { fileSchema, syncSchema } from '../../src/config/settings.ts';
import { jsonSchemaOf } from '../../src/config/json-schema.ts';
import { configTemplate, envExample, GITIGNORE, defaultInitAnswers } from '../../src/config/template.ts';
import { starters } from '../../src/config/starters.ts';
import { inputFiles } from '../../src/plan/input-files.ts';
import { openInputs } from '../../src/plan/inputs.ts';
import { orderSyncs } from '../../src/config/order.ts';
import { planTasks } from '../../src/plan/plan.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { catalog } from '../../src/service/catalog.ts';
import { load } from './written.ts';
import { LOG_ENDPOINT } from '../../src/service/request-log/request-log.ts';

const names = (await readdir('configs')).filter((name) => name.endsWith('.yaml'));
const everyEndpoint = catalog.map(({ name }) => name).toSorted();
/** The fields of the inputs of a sync; each query returns one URN. */
async function inputsOf(sync: SyncDefinition): Promise<readonly RequestBody[]> {
  const inputs = await openInputs(sync, {
    readFile: inputFiles(),
    query: () => Promise.resolve([{ type: 'fsd_profile', value: 'a' }]),
  });
  return (await Array.fromAsync(inputs.blocks())).flat().map(({ fields }) => fields);
}

/** Every key in a value, at any depth. */
function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [key, ...keysIn(inner)])
    : [];
}

describe.each(names)('configs/%s', (name) => {
  it('loads without any variable or warning, and plans with its own files', async () => {
    const { syncs, warnings } = await loadConfig(`configs/${name}`, {});
    expect(warnings).toEqual([]);
    for (const sync of syncs) {
      const tasks = planTasks(sync, await inputsOf(sync), { today: '2026-01-02' });
      expect([sync.name, tasks.length > 0]).toEqual([sync.name, true]);
    }
  });

  it('requests every endpoint', async () => {
    const { syncs } = await loadConfig(`configs/${name}`, {});
    expect([...new Set(syncs.map(({ endpoint }) => endpoint.name))].toSorted()).toEqual(everyEndpoint);
  });

  it('begins with the line by which editors find the schema', async () => {
    expect(await readFile(`configs/${name}`, 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\/sync\.schema\.json\n/,
    );
  });
});

describe('the quickstart', () => {
  it('uses the names of variables that the shipped configs share', async () => {
    const env = {
      SLUICE_SERVICE_URL: 'http://127.0.0.1:9/',
      SLUICE_SERVICE_TOKEN: 'abc',
      DATABASE_URL: 'postgres://x@db/y',
    };
    const { service, warehouse } = await loadConfig('configs/quickstart.yaml', env);
    expect([service.url, service.token?.reveal(), warehouse.url.reveal()]).toEqual([
      'http://127.0.0.1:9',
      'abc',
      'postgres://x@db/y',
    ]);
    const unset = await loadConfig('configs/quickstart.yaml', {});
    expect([unset.service.url, unset.service.token, unset.warehouse.url.reveal()]).toEqual([
      'http://127.0.0.1:8787',
      undefined,
      // .sluice/ of the checkout, wherever a command runs.
      `embedded:${resolve('.sluice')}`,
    ]);
  });

  it('buys nothing twice: each sync that costs has a max_age', async () => {
    const { syncs } = await loadConfig('configs/quickstart.yaml', {});
    expect(syncs.filter(({ endpoint, maxAgeMs }) => endpoint.price.points > 0 && maxAgeMs === undefined)).toEqual([]);
  });

  it('requests people before their schools, and the costs at the end', async () => {
    const order = orderSyncs((await loadConfig('configs/quickstart.yaml', {})).syncs).map(({ name }) => name);
    expect(order.indexOf('people')).toBeLessThan(order.indexOf('schools'));
    expect(order.at(-1)).toBe('costs');
  });
});

describe('the example', () => {
  it('shows every key', async () => {
    const text = await readFile('configs/example.yaml', 'utf8');
    const keys = new Set(keysIn(parse(text)));
    const own = [...keysIn(jsonSchemaOf(fileSchema).properties), ...keysIn(jsonSchemaOf(syncSchema).properties)];
    const vocabulary = new Set([
      'type',
      'description',
      'properties',
      'required',
      'additionalProperties',
      'anyOf',
      'items',
      'enum',
      'pattern',
      'default',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'propertyNames',
      'minLength',
      'minItems',
      'maxItems',
      'const',
    ]);
    const prices = new Set(everyEndpoint);
    const wanted = [
      ...own.filter((key) => !vocabulary.has(key) && !prices.has(key)),
      'file',
      'column',
      'query',
      'lookback',
      'from',
      'to',
    ];
    expect([...new Set(wanted)].filter((key) => !keys.has(key))).toEqual([]);
  });

  it.each(catalog.map((endpoint) => [endpoint.name, endpoint] as const))(
    'shows every request field of %s',
    async (_, endpoint) => {
      const { syncs } = await loadConfig('configs/example.yaml', {});
      const shown = await Promise.all(
        syncs
          .filter((it) => it.endpoint === endpoint)
          .map(async (sync) => [
            ...planTasks(sync, await inputsOf(sync), { today: '2026-01-02' }).flatMap(({ body }) => Object.keys(body)),
            ...Object.keys(sync.splitBy),
          ]),
      );
      expect(settable(endpoint).filter((field) => field !== 'timeout' && !shown.flat().includes(field))).toEqual([]);
    },
  );
});

describe('what init writes', () => {
  it('loads as it is', async () => {
    const { syncs, budget } = await load(configTemplate(defaultInitAnswers, './sync.schema.json'));
    expect(syncs.map(({ name }) => name)).toEqual(['pages', 'costs']);
    expect(budget).toEqual({ perRun: 100, perDay: 500 });
  });

  it('knows a first sync of every endpoint', () => {
    expect([...Object.keys(starters), LOG_ENDPOINT].toSorted()).toEqual(everyEndpoint);
  });

  it.each(Object.entries(starters))('begins with %s alone, and with what brings its inputs', async (endpoint, it) => {
    const { syncs } = await load(
      configTemplate({ ...defaultInitAnswers, endpoints: [endpoint] }, './sync.schema.json'),
    );
    const taken = syncs.map((sync) => sync.endpoint.name);
    expect(taken.toSorted()).toEqual([endpoint, ...(it.needs ?? []), LOG_ENDPOINT].toSorted());
    expect(syncs.at(-1)?.after).toEqual(syncs.slice(0, -1).map(({ name }) => name));
  });

  it('loads with every commented sync and key taken in', async () => {
    const text = configTemplate(defaultInitAnswers, './sync.schema.json')
      .replace(/^( *)# (?= *(?:[a-z_]+:|- ))/gm, '$1')
      .replace(/^ {6}url: \{ file.*\n/m, '');
    const config = await load(text);
    expect(config.syncs.map(({ name }) => name)).toEqual([...Object.values(starters).map(({ name }) => name), 'costs']);
    expect(config.warehouse.schema).toBe('sluice');
  });

  it('points editors to the schema', () => {
    expect(configTemplate(defaultInitAnswers, 'https://a.example/sync.schema.json').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=https://a.example/sync.schema.json',
    );
  });

  it.each(['embedded', 'postgres'] as const)(
    'names in .env.example what the config uses, and no secret: %s',
    (warehouse) => {
      const text = configTemplate({ ...defaultInitAnswers, warehouse }, 'x');
      const example = envExample(warehouse);
      const used = [...text.matchAll(/^[^#\n]*\$\{([A-Z_]+)/gm)].map(([, name]) => name);
      expect(used).toEqual(['SLUICE_SERVICE_URL', 'SLUICE_SERVICE_TOKEN', 'DATABASE_URL']);
      for (const name of used) expect(example).toMatch(new RegExp(`^#?${name}=`, 'm'));
      expect(example).toMatch(/^SLUICE_SERVICE_TOKEN=$/m);
      expect(GITIGNORE.split('\n')).toEqual(['.env', '.sluice/', '']);
    },
  );
});
