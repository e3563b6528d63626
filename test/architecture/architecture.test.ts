/** The shape of the code: who may import whom, and what a file looks like. */
import { beforeAll, describe, expect, it } from 'vitest';
import { partOf, type SourceFile, sourceFiles } from './imports.ts';

interface Rights {
  /** Parts, or single files of a part. */
  readonly values: readonly string[];
  /** Besides: parts of which only types may be imported. */
  readonly types?: readonly string[];
}

const STAGES = ['plan', 'extract', 'normalize', 'load'];
/** What records, decides and recovers around the stages. */
const MACHINERY = ['ledger', 'control', 'recovery'];
/** Parts without a word of this domain. They import nothing, and every part may import them. */
const LEAVES = ['errors.ts', 'day.ts', 'async', 'redaction', 'text'];
const COMPOSERS = ['sync.ts', 'syncs.ts', 'flow'];

/** Which part may import which. Every part may import itself and the leaves. */
const RIGHTS: Readonly<Record<string, Rights>> = {
  'errors.ts': { values: [] },
  'day.ts': { values: [] },
  redaction: { values: [] },
  text: { values: [] },
  async: { values: [] },
  service: { values: [] },
  config: { values: ['service'] },
  sandbox: { values: ['service'] },
  // A warehouse's address is a secret of the config.
  warehouse: { values: ['service'], types: ['config'] },
  plan: { values: ['service', 'config'] },
  extract: { values: ['service', 'config'], types: ['plan'] },
  normalize: { values: ['service', 'warehouse'] },
  load: { values: ['service', 'warehouse'], types: ['normalize'] },
  ledger: { values: ['service', 'warehouse'], types: ['plan', 'normalize', 'load'] },
  telemetry: { values: [], types: ['extract', 'ledger'] },
  control: { values: ['service', 'warehouse', 'ledger', 'plan'], types: ['config', 'normalize'] },
  recovery: { values: ['service', 'warehouse', 'ledger', 'normalize/decode.ts'], types: ['config'] },
  flow: { values: ['service', 'config', 'warehouse', ...MACHINERY, ...STAGES], types: ['telemetry'] },
  'sync.ts': {
    values: ['service', 'config', 'warehouse', 'flow', ...MACHINERY, ...STAGES],
    types: ['telemetry'],
  },
  'syncs.ts': { values: ['config', 'warehouse', 'control', 'plan', 'flow', 'sync.ts'], types: ['ledger'] },
  lineage: { values: ['service', 'config', 'warehouse'] },
  insight: { values: ['warehouse', 'ledger', 'recovery'] },
  report: { values: ['service', 'warehouse'] },
  mcp: { values: [], types: ['warehouse'] },
  export: { values: ['config/document/nearest.ts', 'warehouse'] },
  monitor: { values: ['warehouse', 'ledger', 'control'] },
  alerts: { values: ['service', 'warehouse', 'ledger', 'control'], types: ['config'] },
  engine: { values: ['service', 'config', 'warehouse', 'ledger', 'control', 'flow', 'sync.ts'] },
  ui: {
    values: [
      'service',
      'warehouse',
      'ledger',
      'flow',
      'insight',
      'report',
      'alerts',
      'monitor/http-server.ts',
      'monitor/listen-address.ts',
    ],
    types: ['config'],
  },
  cli: {
    values: [
      'service',
      'config',
      'warehouse',
      'sandbox',
      'plan',
      'engine',
      'report',
      'export',
      'monitor',
      'alerts',
      'insight',
      'mcp',
      'lineage',
      'ui',
      'telemetry',
      ...MACHINERY,
      ...COMPOSERS,
    ],
  },
  'main.ts': { values: ['cli'] },
};

/** The folders beside `src`, and the parts that may import them. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  '../package.json': ['extract', 'cli', 'warehouse', 'telemetry', 'sandbox'],
  '../migrations/': ['warehouse'],
};

/** Packages that belong to one part: no other part may use them. */
const KEPT_APART: Readonly<Record<string, readonly string[]>> = {
  // Paid requests are sent in one place; alerts go to the receivers in the config.
  undici: ['extract', 'alerts'],
  'node:http': ['sandbox', 'monitor'],
  'node:https': [],
  'node:http2': [],
  pg: ['warehouse'],
  'pg-boss': ['engine'],
  '@electric-sql/pglite': ['warehouse'],
  yaml: ['config', 'cli'],
  cheerio: ['sandbox'],
  'prom-client': ['monitor'],
  '@opentelemetry/api': ['telemetry'],
  'hyparquet-writer': ['export'],
  'd3-scale': ['report'],
  'd3-shape': ['report'],
  yargs: ['cli', 'main.ts'],
  '@modelcontextprotocol/server': ['mcp'],
  '@modelcontextprotocol/server/stdio': ['mcp'],
};

let files: readonly SourceFile[] = [];
beforeAll(async () => {
  files = await sourceFiles();
});

const offences = (of: (file: SourceFile) => readonly string[]): string[] =>
  files.flatMap((file) => of(file).map((it) => `${file.path}: ${it}`));

describe('imports', () => {
  it('are found at all', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter(({ imports }) => imports.length > 0).length).toBeGreaterThan(100);
    expect(files.find(({ path }) => path === 'load/group.ts')?.imports).toContainEqual({
      to: 'normalize/batch.ts',
      isOurs: true,
      isType: true,
    });
    expect(files.find(({ path }) => path === 'load/group.ts')?.imports).toContainEqual({
      to: 'warehouse/schema/tables.ts',
      isOurs: true,
      isType: false,
    });
  });

  it('of parts that the table does not know are none', () => {
    expect([...new Set(files.map(({ path }) => partOf(path)))].filter((part) => RIGHTS[part] === undefined)).toEqual(
      [],
    );
  });

  it('run one way', () => {
    const wrong = offences(({ path, imports }) => {
      const { values, types = [] } = RIGHTS[partOf(path)] ?? { values: [] };
      const may = (to: string, isType: boolean): boolean => {
        const part = partOf(to);
        return (
          [partOf(path), ...LEAVES, ...values].some((it) => it === part || it === to) ||
          (isType && types.includes(part))
        );
      };
      return imports
        .filter((it) => it.isOurs && !may(it.to, it.isType))
        .map(({ to, isType }) => `must not import ${isType ? 'types of ' : ''}${to}`);
    });
    expect(wrong).toEqual([]);
  });

  it('from beside the source are few', () => {
    const wrong = offences(({ path, imports }) =>
      imports
        .filter(({ to, isOurs }) => !isOurs && to.startsWith('../'))
        .filter(
          ({ to }) =>
            !Object.entries(BESIDE).some(([beside, parts]) => to.startsWith(beside) && parts.includes(partOf(path))),
        )
        .map(({ to }) => `must not import ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('of a stage and of the ledger at once are only in the composers', () => {
    // Planning records nothing, and decoding only reads: what is spooled is read by recovery.
    const effective = STAGES.filter((stage) => stage !== 'plan');
    const wrong = offences(({ path, imports }) => {
      const used = imports
        .filter(({ isType, to }) => !isType && to !== 'normalize/decode.ts')
        .map(({ to }) => partOf(to));
      const isBoth = used.some((part) => MACHINERY.includes(part)) && used.some((part) => effective.includes(part));
      return isBoth && !COMPOSERS.includes(partOf(path)) ? ['imports a stage and the machinery'] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('of a stage by another are only types', () => {
    const wrong = offences(({ path, imports }) =>
      STAGES.includes(partOf(path))
        ? imports
            .filter(({ to, isType }) => !isType && STAGES.includes(partOf(to)) && partOf(to) !== partOf(path))
            .map(({ to }) => `imports ${to}`)
        : [],
    );
    expect(wrong).toEqual([]);
  });

  it('of packages that make a part what it is stay there', () => {
    const wrong = offences(({ path, imports }) =>
      imports
        .filter(
          ({ to, isOurs, isType }) =>
            !isOurs && !isType && KEPT_APART[to] !== undefined && !KEPT_APART[to].includes(partOf(path)),
        )
        .map(({ to }) => `must not use ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('of migrations are only of kysely', async () => {
    const { readdir, readFile } = await import('node:fs/promises');
    const folder = new URL('../../migrations/', import.meta.url);
    const names = (await readdir(folder)).filter((it) => it.endsWith('.ts'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const text = await readFile(new URL(name, folder), 'utf8');
      const used = [...text.matchAll(/from '([^']+)'/g)].map(([, to]) => to);
      expect({ name, used: used.filter((to) => to !== 'kysely') }).toEqual({ name, used: [] });
    }
  });
});

describe('a source file', () => {
  it('that speaks HTTP on its own is in extract', () => {
    expect(
      offences(({ path, text }) =>
        partOf(path) !== 'extract' && /(?<![.\w])fetch\s*\(/.test(text) ? ['calls fetch'] : [],
      ),
    ).toEqual([]);
  });

  it('opens with what it is for', () => {
    expect(
      offences(({ text }) => (/^(#![^\n]*\n)?\/\*\*\s*(\*\s*)?\S/.test(text) ? [] : ['has no comment at its top'])),
    ).toEqual([]);
  });

  it('has at most 300 lines', () => {
    expect(
      offences(({ text }) => (text.trimEnd().split('\n').length > 300 ? [`has ${text.split('\n').length} lines`] : [])),
    ).toEqual([]);
  });

  it('is named for what it holds', () => {
    expect(
      offences(({ path }) =>
        /(^|\/)(utils?|helpers?|common|types?|manager|misc|index)(\/|\.ts$)/i.test(path)
          ? ['says nothing by its name']
          : [],
      ),
    ).toEqual([]);
    expect(
      offences(({ path }) =>
        /^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path) ? [] : ['is not in kebab case'],
      ),
    ).toEqual([]);
  });

  it('is one of at most 25 in its folder', () => {
    const folders = new Map<string, number>();
    for (const { path } of files) {
      const folder = path.split('/').slice(0, -1).join('/');
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
    expect([...folders].filter(([, count]) => count > 25)).toEqual([]);
  });

  it('has its tests in the folder of the same name, and the other folders of tests are in CONTRIBUTING.md', async () => {
    const { readdir, readFile } = await import('node:fs/promises');
    const folders = (await readdir(new URL('../', import.meta.url), { withFileTypes: true }))
      .filter((it) => it.isDirectory())
      .map(({ name }) => name);
    const guide = await readFile(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
    const parts = new Set(files.map(({ path }) => partOf(path)));
    expect(folders.length).toBeGreaterThan(20);
    expect(folders.filter((name) => !parts.has(name) && !guide.includes(`\`test/${name}\``))).toEqual([]);
  });

  it('exports no type whose name another file exports', () => {
    const places = new Map<string, string[]>();
    for (const { path, text } of files)
      for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
        places.set(name, [...(places.get(name) ?? []), path]);
    expect(places.size).toBeGreaterThan(300);
    expect([...places].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  it('sync.ts shows the flow of a sync on one screen', () => {
    const sync = files.find(({ path }) => path === 'sync.ts');
    expect(sync?.imports.length).toBeLessThanOrEqual(12);
    const body = /^export async function runSync[\s\S]*?^\}/m.exec(sync?.text ?? '')?.[0];
    expect(body?.split('\n').length).toBeLessThanOrEqual(40);
  });

  it('hands nothing on: no barrels', () => {
    expect(
      offences(({ text }) =>
        [...text.matchAll(/^export\s+(type\s+)?(\*|\{[^}]*\})[^;]*\bfrom\b.*$/gm)].map(([line]) => line),
      ),
    ).toEqual([]);
  });

  it('uses no default export, no any, and silences nothing', () => {
    const unwanted = /^export default\b|[:<(,]\s*any\b(?!\w)|@ts-(ignore|nocheck|expect-error)/gm;
    expect(
      offences(({ text }) =>
        [...text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '').matchAll(unwanted)].map(
          ([found]) => found,
        ),
      ),
    ).toEqual([]);
  });
});
