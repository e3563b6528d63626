/** Variables in values: what they become, where they are refused, and that their values are never shown. */
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interpolate, parseTemplate } from '../../src/config/document/interpolate.ts';
import { loadConfig } from '../../src/config/load.ts';
import { HEAD, inFolder, load, loadSync, fileProblems, problemsIn, problemsOf } from './written.ts';

const filled = (text: string, env: Readonly<Record<string, string>>): string | undefined => {
  const parts = parseTemplate(text);
  if ('malformed' in parts) return undefined;
  const result = interpolate(parts, (name) => env[name]);
  return 'text' in result ? result.text : `unset ${result.unset.name}`;
};

describe('interpolation', () => {
  it.each([
    ['no variables', 'no variables'],
    ['${A}', 'a'],
    ['x${A}y${B}z', 'xaybz'],
    ['${EMPTY}', ''],
    ['${A:-d}', 'a'],
    ['${NONE:-d}', 'd'],
    ['${EMPTY:-d}', 'd'],
    ['${NONE:-}', ''],
    ['${NONE:-${A}}', 'a'],
    ['${NONE:-x ${NONE:-${B}} y}', 'x b y'],
    ['${NONE:-http://h:1/?a=b:c}', 'http://h:1/?a=b:c'],
    ['${A:?say so}', 'a'],
    ['${NONE:?say so}', 'unset NONE'],
    ['${EMPTY:?say so}', 'unset EMPTY'],
    ['${NONE}', 'unset NONE'],
    ['$$', '$'],
    ['$${A}', '${A}'],
    ['$$$${A}', '$${A}'],
    ['$A and $', '$A and $'],
    ['${_x9}', 'unset _x9'],
  ])('makes %j %j', (text, expected) => {
    expect(filled(text, { A: 'a', B: 'b', EMPTY: '' })).toBe(expected);
  });

  it('never looks for variables in a variable’s value', () => {
    expect(filled('${A}', { A: '${B} $$' })).toBe('${B} $$');
  });

  it.each(['${', '${}', '${A', '${A:-x', '${1A}', '${A-x}', '${A?x}', '${A:=x}', '${A B}', '${A:-${}}'])(
    'refuses %j',
    (text) => {
      expect(parseTemplate(text)).toMatchObject({
        malformed: expect.stringContaining(
          'allowed are ${VAR}, ${VAR:-default} and ${VAR:?message}; write a literal dollar sign as $$',
        ),
      });
    },
  );

  it('gives any text back once its dollar signs are doubled', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-', ' ') }),
        (text) => filled(text.replaceAll('$', '$$$$'), {}) === text,
      ),
    );
  });
});

describe('a variable in a config', () => {
  const GROUP = 'endpoint: pronet.group, request: { group: "${G}"';

  it('may stand in any value, with the type that is due there', async () => {
    const sync = await loadSync(
      '  a:\n    endpoint: ${E}\n    after: ["${A:-}b"]\n    max_age: ${AGE}\n    request: { count: "${N}", forms: ["${F}", "-${F}"], date_from: "${DAY}", entity_name: "${NUMBER}" }\n  b: { endpoint: photoshare.user, request: { user: "${U:-x}", with_posts: "${FLAG}" } }',
      { E: 'sec.search.companies', AGE: '2d', N: '50', F: '10-K', DAY: '2024-01-01', NUMBER: '0900', FLAG: 'false' },
    );
    expect(sync).toMatchObject({
      after: ['b'],
      maxAgeMs: 172_800_000,
      request: { count: 50, forms: ['10-K', '-10-K'], date_from: '2024-01-01', entity_name: '0900' },
    });
  });

  it('is not looked for in keys', async () => {
    expect(await problemsOf('  "${A}": { endpoint: token.requests }', { A: 'a' })).toEqual([
      expect.stringMatching(/^4:3: "\$\{A\}" can't be the name of a sync/),
    ]);
  });

  it('is not a URN, a list or a mapping of its own making', async () => {
    expect(
      await loadSync('  a: { endpoint: pronet.search.users, request: { count: 1, location: ["${L}"] } }', {
        L: '[Berlin, Paris]',
      }),
    ).toMatchObject({ request: { location: ['[Berlin, Paris]'] } });
  });

  it('that is unset is reported at its position', async () => {
    expect(await problemsOf(`  a: { ${GROUP} } }`)).toEqual([
      '4:51: the variable G is not set; set it (or G_FILE), or write ${G:-default}',
    ]);
    expect(
      await problemsOf(
        '  a:\n    endpoint: pronet.group\n    request:\n      group: urn:li:group:${G:?name a group}\n',
      ),
    ).toEqual(['7:27: the variable G is not set: name a group']);
  });

  it('that is malformed is placed at its value', async () => {
    expect(await problemsOf('  a: { endpoint: pronet.group, request: { group: "x ${G" } }')).toEqual([
      '4:50: a variable is not closed by }; allowed are ${VAR}, ${VAR:-default} and ${VAR:?message}; write a literal dollar sign as $$',
    ]);
  });

  it('hides nothing else that is wrong', async () => {
    expect(await problemsOf('  a: { endpoint: sec.search.companies, request: { count: "${N}", frms: [x] } }')).toEqual([
      '4:59: the variable N is not set; set it (or N_FILE), or write ${N:-default}',
      expect.stringMatching(/^4:66: unknown key "frms"/),
    ]);
  });

  it('keeps its value to itself when that is refused, unless it is a number', async () => {
    expect(
      await problemsOf('  a: { endpoint: sec.search.companies, request: { count: "${N}", date_from: "${D}" } }', {
        N: '101',
        D: 'hush',
      }),
    ).toEqual([
      '4:58: count is 101; allowed is a whole number from 1 to 100',
      '4:77: date_from is the value of ${D}; must be a date written YYYY-MM-DD',
    ]);
    expect(
      await fileProblems(
        'service: { url: "${U}" }\nwarehouse: { url: "${W}" }\nsyncs: { a: { endpoint: token.requests } }\n',
        {
          U: '',
          W: 'mysql://hush@x',
        },
      ),
    ).toEqual([
      '1:17: url is empty, the value of ${U}; allowed is an http or https address without a login, a query or a fragment, such as https://api.example.com',
      '2:19: url is the value of ${W}; allowed is embedded:FOLDER or postgres://USER@HOST:PORT/DATABASE',
    ]);
  });

  it('says of an address of several hosts that it may have one', async () => {
    const written =
      'service: { url: "http://x" }\nwarehouse: { url: "${W}" }\nsyncs: { a: { endpoint: token.requests } }\n';
    const allowed = 'allowed is an address with one host: name a pooler or a virtual address for several servers';
    for (const W of ['postgres://me:hush@a:1,b:2/data', 'postgres://a,b?sslmode=disable'])
      expect(await fileProblems(written, { W })).toEqual([`2:19: url is the value of \${W}; ${allowed}`]);
    expect(await fileProblems(written, { W: 'postgres://me:hush,hush@a/data' })).toEqual([]);
  });

  it('may not bring in what Postgres can’t keep', async () => {
    expect(await problemsOf(`  a: { ${GROUP} } }`, { G: '\uD83D' })).toEqual([
      '4:50: ${G}: the text contains half of a surrogate pair; write the complete character',
    ]);
  });
});

describe('the token', () => {
  const config = (token: string): string =>
    `service: { url: "http://a.example", token: ${token} }\nwarehouse: { url: "embedded:x" }\nsyncs: { a: { endpoint: token.requests } }\n`;

  it.each([
    ['an unset variable', '"${T}"', {}],
    ['an empty variable', '"${T}"', { T: '' }],
    ['an unset variable with an empty default', '"${T:-}"', {}],
    ['an empty text', '""', {}],
    ['null', '', {}],
  ])('is absent for %s', async (_, token, env) => {
    expect((await load(config(token), env)).service.token).toBeUndefined();
  });

  it('is what its variable says', async () => {
    expect((await load(config('"${T}"'), { T: 'abc' })).service.token?.reveal()).toBe('abc');
  });

  it('must be set where the config says so', async () => {
    expect(await fileProblems(config('"${T:?from the dashboard}"'))).toEqual([
      '1:45: the variable T is not set: from the dashboard',
    ]);
    expect(await fileProblems(config('"Bearer ${T}"'))).toEqual([
      '1:52: the variable T is not set; set it (or T_FILE), or write ${T:-default}',
    ]);
  });

  const REFUSED = '1:44: token is not a valid header value; allowed are printable ASCII characters without spaces';
  it.each(['two words', 'naïve', 'line\nbreak'])('is refused unseen when no header takes it: %j', async (value) => {
    expect(await fileProblems(config('"${T}"'), { T: value })).toEqual([REFUSED]);
  });

  it('is absent where its variable has no valid value, and the problem is a part of the config', async () => {
    for (const [token, env] of [
      ['"${T}"', { T: 'two words' }],
      ['"Bearer${T}"', {}],
    ] as const) {
      const { service, unusable } = await load(config(token), env);
      expect([service.token, unusable?.settings]).toEqual([undefined, ['service.token']]);
      expect(unusable?.error.problems).toHaveLength(1);
    }
    expect((await load(config('"${T}"'), { T: 'abc' })).unusable).toBeUndefined();
  });

  it('is refused for every command if the file itself contains an unusable one', async () => {
    await expect(load(config('"two words"'))).rejects.toThrow('token is not a valid header value');
    await expect(load(config('"${T"'))).rejects.toThrow('a variable is not closed by }');
  });

  it('is reported together with the other problems of the file', async () => {
    const text = config('"${T}"').replace('syncs:', 'sinks: {}\nsyncs:');
    await expect(load(text, { T: 'two words' })).rejects.toMatchObject({
      problems: [
        { message: REFUSED.slice('1:44: '.length) },
        { message: expect.stringMatching(/^unknown key "sinks"/) },
      ],
    });
  });
});

describe('a secret from a file', () => {
  const CONFIG =
    'service: { url: "http://a.example", token: "${T}" }\nwarehouse: { url: "${D:-embedded:x}" }\nsyncs: { a: { endpoint: token.requests } }\n';
  const loadWith = (
    files: Readonly<Record<string, string>>,
    env: (folder: string) => Readonly<Record<string, string>>,
  ) =>
    inFolder({ 'sluice.yaml': CONFIG, ...files }, async (folder) => {
      const { service, warehouse } = await loadConfig(join(folder, 'sluice.yaml'), env(folder));
      return { token: service.token?.reveal(), warehouse: warehouse.url.reveal() };
    });

  it.each(['abc', 'abc\n', 'abc\r\n', 'abc\n\n', '\uFEFFabc\r\n\r\n'])(
    'is its text without the line’s end and a byte order mark: %j',
    async (text) => {
      expect(await loadWith({ t: text }, (folder) => ({ T_FILE: join(folder, 't') }))).toEqual({
        token: 'abc',
        warehouse: expect.stringMatching(/^embedded:\/.*\/x$/) as string,
      });
    },
  );

  it('is read where the variable is unset or empty, and before a default', async () => {
    expect(
      await loadWith({ t: 'abc', d: 'embedded:y\n' }, (folder) => ({
        T: '',
        T_FILE: join(folder, 't'),
        D_FILE: join(folder, 'd'),
      })),
    ).toEqual({ token: 'abc', warehouse: expect.stringMatching(/^embedded:\/.*\/y$/) as string });
  });

  it('yields to the variable itself', async () => {
    expect(await loadWith({}, () => ({ T: 'abc', T_FILE: '/nowhere' }))).toMatchObject({ token: 'abc' });
  });

  it('is refused, with its place, when it can’t be read', async () => {
    expect(await problemsIn(CONFIG, { T: 'abc', D_FILE: '/nowhere/d' })).toMatchObject([
      { line: 2, column: 20, message: 'D_FILE names "/nowhere/d", which can\'t be read (ENOENT)' },
    ]);
  });

  it('is refused when it isn’t UTF-8, instead of losing bytes', async () => {
    const files = { 'sluice.yaml': CONFIG, t: Buffer.from('abc\xE9', 'latin1') };
    const { unusable } = await inFolder(files, (folder) =>
      loadConfig(join(folder, 'sluice.yaml'), { T_FILE: join(folder, 't') }),
    );
    expect(unusable?.error.message).toMatch(/T_FILE names ".*\/t", which is not UTF-8 text/);
  });

  it('leaves the config usable without a token when it can’t be read', async () => {
    expect(await loadWith({}, () => ({ T_FILE: '/nowhere/t' }))).toMatchObject({ token: undefined });
    expect(await problemsIn(CONFIG, { T_FILE: '/nowhere/t' })).toMatchObject([
      { line: 1, column: 45, message: 'T_FILE names "/nowhere/t", which can\'t be read (ENOENT)' },
    ]);
  });

  it('is not read for a variable that the config doesn’t use', async () => {
    expect(await loadWith({}, () => ({ X_FILE: '/nowhere/t' }))).toMatchObject({ token: undefined });
  });
});

describe('what is left out', () => {
  const bare = 'syncs:\n  a: { endpoint: token.requests }\n';

  it('is taken from the variables that the shipped configs use', async () => {
    const env = {
      SLUICE_SERVICE_URL: 'http://a.example',
      SLUICE_SERVICE_TOKEN: 'abc',
      DATABASE_URL: 'postgres://u@h/d',
    };
    const { service, warehouse } = await load(bare, env);
    expect([service.url, service.token?.reveal(), warehouse.url.reveal()]).toEqual(Object.values(env));
  });

  it('is the sandbox and the embedded warehouse where they are unset', async () => {
    const { service, warehouse } = await load(bare, {});
    expect([service.url, service.token, warehouse.url.reveal()]).toEqual([
      'http://127.0.0.1:8787',
      undefined,
      expect.stringMatching(/^embedded:\/.*\/\.sluice$/),
    ]);
  });

  it('leaves what is written as it is', async () => {
    const env = { SLUICE_SERVICE_URL: 'http://a.example', DATABASE_URL: 'postgres://u@h/d' };
    const { service, warehouse } = await load(`${HEAD}  a: { endpoint: token.requests }\n`, env);
    expect(service.url).not.toBe(env.SLUICE_SERVICE_URL);
    expect(warehouse.url.reveal()).not.toBe(env.DATABASE_URL);
  });
});
