/** Inputs from lists, files and queries, and the rows that are refused before anything is spent. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputSource, SyncDefinition } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import { UsageError } from '../../src/errors.ts';
import { inputFiles } from '../../src/plan/input-files.ts';
import { type InputEffects, openInputs } from '../../src/plan/inputs.ts';
import type { Input } from '../../src/plan/input-row.ts';
import { HEAD, inFolder } from '../config/written.ts';
import { syncOf } from './sync.ts';

type Rows = Awaited<ReturnType<InputEffects['query']>>;

const URN_SYNC = 'endpoint: pronet.user.education, request: { count: 10 }';

/** All inputs of a sync. */
const readInputs = async (sync: SyncDefinition, effects: InputEffects): Promise<readonly Input[]> =>
  (await Array.fromAsync((await openInputs(sync, effects)).blocks())).flat();

/** A file of this text, in parts of this many code points, since no stream of text divides one. */
async function* inParts(text: string, size = Infinity): AsyncGenerator<string> {
  const all = Array.from(text);
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size).join('');
}

/** The fields of the inputs of a sync in a config, with these files beside it. */
const read = async (
  sync: string,
  files: Readonly<Record<string, string>> = {},
  rows: Rows = [],
): Promise<readonly unknown[]> => (await readAged(sync, files, rows)).map(({ fields }) => fields);

/** The same with the age of each. */
const readAged = (
  sync: string,
  files: Readonly<Record<string, string>> = {},
  rows: Rows = [],
): Promise<readonly Input[]> =>
  inFolder({ 'sluice.yaml': `${HEAD}  a: { ${sync} }\n`, ...files }, async (folder) => {
    const { syncs } = await loadConfig(join(folder, 'sluice.yaml'), {});
    return readInputs(syncs[0] as SyncDefinition, {
      readFile: inputFiles(),
      query: () => Promise.resolve(rows),
    });
  });

/** The lines of the refusal, without the folder. */
async function refusal(sync: string, files: Readonly<Record<string, string>> = {}, rows: Rows = []): Promise<string[]> {
  const error = await read(sync, files, rows).then(
    (inputs) => inputs,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(UsageError);
  return (error as UsageError).message.split('\n').map((line) => line.replaceAll(/\S*sluice-config-\w+\//g, ''));
}

const users = (...names: string[]) => names.map((user) => ({ user }));

describe('lists', () => {
  it('give one input a value, none without for_each an empty one', async () => {
    expect(await read('endpoint: microblog.user, for_each: { user: [a, 1.10, "b"] }')).toEqual(users('a', '1.10', 'b'));
    expect(await read('endpoint: microblog.user, request: { user: a }')).toEqual([{}]);
  });

  it('make their cross product, the first key slowest', async () => {
    expect(await read('endpoint: photoshare.user.posts, for_each: { user: [a, b], count: [1, 2] }')).toEqual([
      { user: 'a', count: 1 },
      { user: 'a', count: 2 },
      { user: 'b', count: 1 },
      { user: 'b', count: 2 },
    ]);
  });

  it('of mappings bring what belongs together', async () => {
    expect(
      await read(
        'endpoint: pronet.search.users, request: { count: 1 }, for_each: [{ first_name: Ada, location: Berlin }, { last_name: L, location: [A, "urn:li:geo:1"] }]',
      ),
    ).toEqual([
      { first_name: 'Ada', location: ['Berlin'] },
      { last_name: 'L', location: ['A', { type: 'geo', value: '1' }] },
    ]);
  });

  it('give a list field one element each, or a complete list', async () => {
    expect(
      await read('endpoint: sec.search.companies, request: { count: 1 }, for_each: { forms: [10-K, 4, [10-Q, 8-K]] }'),
    ).toEqual([{ forms: ['10-K'] }, { forms: ['4'] }, { forms: ['10-Q', '8-K'] }]);
  });

  it('must make complete requests', async () => {
    expect(await refusal('endpoint: photoshare.user.posts, for_each: [{ user: a, count: 1 }, { user: b }]')).toEqual([
      'a: an input is refused',
      '  input 2: missing: count (allowed is a whole number of at least 1)',
      '  defined at sluice.yaml:4:51',
    ]);
  });

  it('may not make millions', async () => {
    const rows = Array.from({ length: 1001 }, (_, at) => ({ user: `u${at}` }));
    const forEach: InputSource[] = [
      { from: 'list', rows, where: 'a:1:1' },
      { from: 'list', rows: rows.map((_, at) => ({ count: at + 1 })), where: 'a:1:1' },
    ];
    const effects = { readFile: () => inParts(''), query: () => Promise.resolve([]) };
    await expect(readInputs(syncOf('photoshare.user.posts', { forEach }), effects)).rejects.toThrow(
      'a: for_each makes 1002001 inputs; at most 1000000 are allowed',
    );
  });

  it('may not make more than memory holds, and make nothing with a query without rows', async () => {
    const fields = ['first_name', 'last_name', 'title', 'company_keywords', 'school_keywords'];
    const lists = fields.map((field): InputSource => {
      const rows = Array.from({ length: 100 }, (_, at) => ({ [field]: `${at}` }));
      return { from: 'list', rows, where: 'a:1:1' };
    });
    const effects = { readFile: () => inParts(''), query: () => Promise.resolve([]) };
    await expect(readInputs(syncOf('pronet.search.users', { forEach: lists }), effects)).rejects.toThrow(
      'a: for_each makes 10000000000 inputs; at most 1000000 are allowed',
    );
    const query: InputSource = { from: 'query', sql: 'select', field: 'location', where: 'a:1:1' };
    expect(await readInputs(syncOf('pronet.search.users', { forEach: [...lists, query] }), effects)).toEqual([]);
  });
});

describe('files', () => {
  const POSTS = 'endpoint: photoshare.user.posts, request: { count: 1 }';
  it.each([
    ['CSV with a column named', '{ user: { file: in.csv, column: name } }', { 'in.csv': 'id,name\n1,a\n2,b\n' }],
    ['CSV with the field’s own column', '{ user: { file: in.csv } }', { 'in.csv': 'id,user\n1,a\n2,b\n' }],
    ['CSV of one column', '{ user: { file: in.csv } }', { 'in.csv': 'anything\na\nb\n' }],
    ['CSV whose columns are fields', '{ file: in.csv }', { 'in.csv': 'user\na\nb\n' }],
    [
      'CSV with a mark, Windows’ line ends, blanks and no last line end',
      '{ user: { file: in.csv, column: user } }',
      { 'in.csv': '\uFEFFuser , x\r\n"a",1\r\n\r\nb,2' },
    ],
    [
      'CSV with blanks around its cells',
      '{ user: { file: in.csv, column: user } }',
      { 'in.csv': 'x , user , y\n 1 , a , 2\n3,\t"b" ,4\n   \n' },
    ],
    ['CSV with mixed line ends', '{ user: { file: in.csv } }', { 'in.csv': 'user\r\n"a"\n\r\nb\r' }],
    ['CSV in another letter case', '{ user: { file: IN.CSV, column: user } }', { 'IN.CSV': 'user\na\nb' }],
    [
      'TSV with empty cells and blanks around others',
      '{ user: { file: in.tsv, column: user } }',
      { 'in.tsv': 'x\tuser\ty\n\t a \t\n1\tb\t2\n\t\t\n' },
    ],
    ['TSV', '{ user: { file: in.tsv, column: user } }', { 'in.tsv': 'user\tx\na\t1\nb\t2\n' }],
    [
      'JSON lines with a column named',
      '{ user: { file: in.jsonl, column: name } }',
      { 'in.jsonl': '{"name":"a"}\n\n{"name":"b","x":{}}\n' },
    ],
    ['JSON lines of texts', '{ user: { file: in.ndjson } }', { 'in.ndjson': '"a"\n"b"\n' }],
    [
      'JSON lines whose keys are fields',
      '{ file: in.jsonl }',
      { 'in.jsonl': '{"user":"a"}\n{"user":"b","timeout":null}\n' },
    ],
    ['text', '{ user: { file: in.txt } }', { 'in.txt': '\uFEFFa\r\n\r\n  b  \r\n' }],
    ['text without an extension, in a folder', '{ user: { file: deep/in } }', { 'deep/in': 'a\nb' }],
  ])('%s', async (_, forEach, files) => {
    expect(await read(`${POSTS}, for_each: ${forEach}`, files)).toEqual(users('a', 'b'));
  });

  it('keep quoted commas, quotes and line ends, and whatever looks like SQL', async () => {
    const texts = ['a,b', 'say "hi"', 'two\nlines', "'); drop table x;--", '\\N', ' padded '];
    const csv = `user\n${texts.map((it) => `"${it.replaceAll('"', '""')}"`).join('\n')}\n`;
    expect(await read(`${POSTS}, for_each: { user: { file: in.csv } }`, { 'in.csv': csv })).toEqual(users(...texts));
  });

  it('of CSV may have lines of empty cells, which count as blank lines', async () => {
    const csv = ',,\nuser,timeout,alias\na,,\n,,\n , ,\nb,,\n,\n';
    expect(await read(`${POSTS}, for_each: { user: { file: in.csv, column: user } }`, { 'in.csv': csv })).toEqual(
      users('a', 'b'),
    );
    expect(
      await read(`${POSTS}, for_each: { file: in.csv }`, { 'in.csv': csv.replaceAll('alias', 'max_age') }),
    ).toEqual(users('a', 'b'));
  });

  it('give numbers and flags where these are due, and text as it was written', async () => {
    expect(
      await read('endpoint: photoshare.user.posts, for_each: { file: in.csv }', { 'in.csv': 'user,count\n007,12\n' }),
    ).toEqual([{ user: '007', count: 12 }]);
    expect(
      await read('endpoint: photoshare.user, for_each: { file: in.csv }', {
        'in.csv': 'user,with_posts\na,true\nb,\nc,false\n',
      }),
    ).toEqual([{ user: 'a', with_posts: true }, { user: 'b' }, { user: 'c', with_posts: false }]);
    expect(
      await read('endpoint: photoshare.user, for_each: { file: in.jsonl }', {
        'in.jsonl': '{"user":9007199254740993,"with_posts":true}\n{"user":3.10}\n',
      }),
    ).toEqual([{ user: '9007199254740993', with_posts: true }, { user: '3.10' }]);
  });

  it('give URNs in every way they are written', async () => {
    const jsonl =
      '"fsd_profile:a"\n"urn:li:fsd_profile:b"\n{"type":"fsd_profile","value":"c"}\n{"urn":"fsd_profile:d","x":1}\n{"urn_type":"fsd_profile","urn_value":"e"}\n{"urn":{"type":"fsd_profile","value":6}}\n';
    expect(await read(`${URN_SYNC}, for_each: { urn: { file: in.jsonl } }`, { 'in.jsonl': jsonl })).toEqual(
      ['a', 'b', 'c', 'd', 'e', '6'].map((value) => ({ urn: { type: 'fsd_profile', value } })),
    );
    expect(
      await read(`${URN_SYNC}, for_each: { urn: { file: in.csv } }`, { 'in.csv': 'type,value\nfsd_profile,a\n' }),
    ).toEqual([{ urn: { type: 'fsd_profile', value: 'a' } }]);
  });

  it('make a cross product with lists', async () => {
    expect(
      await read('endpoint: photoshare.user.posts, for_each: { count: [1, 2], user: { file: in.txt } }', {
        'in.txt': 'a\nb',
      }),
    ).toHaveLength(4);
  });

  it('return a million-character cell completely', async () => {
    const long = 'x'.repeat(1_000_000);
    expect(await read(`${POSTS}, for_each: { user: { file: in.csv } }`, { 'in.csv': `user\n${long}\n` })).toEqual(
      users(long),
    );
  });
});

describe('files that are refused', () => {
  const PAGE = 'endpoint: webparser.parse';
  const column = (file: string, name = 'url'): string =>
    `${PAGE}, for_each: { url: { file: ${file}, column: ${name} } }`;
  const AT = '  defined at sluice.yaml:4:52';

  it.each([
    [
      'missing',
      column('in.csv'),
      {},
      "a: in.csv can't be read (ENOENT); allowed is a readable file, with a path relative to the folder of the config file that names it",
    ],
    [
      'empty',
      column('in.csv'),
      { 'in.csv': '' },
      'a: in.csv contains no inputs; write at least one, or remove the sync',
    ],
    [
      'of a header alone',
      column('in.csv'),
      { 'in.csv': 'url,x\n' },
      'a: in.csv contains no inputs; write at least one, or remove the sync',
    ],
    [
      'of blanks',
      `${PAGE}, for_each: { url: { file: in.txt } }`,
      { 'in.txt': ' \n\n' },
      'a: in.txt contains no inputs; write at least one, or remove the sync',
    ],
    [
      'with rows of another width',
      column('in.csv'),
      { 'in.csv': 'url,x\nhttp://a.example,1\nhttp://b.example\n' },
      'a: in.csv:3: 1 cells found; the header names 2',
    ],
    [
      'with an open quote',
      column('in.csv'),
      { 'in.csv': 'url\n"http://a.example\n' },
      /^a: in\.csv:\d+: this is not CSV: Quote Not Closed/,
    ],
    [
      'with a column twice',
      column('in.csv'),
      { 'in.csv': 'url,url\na,b\n' },
      'a: in.csv:1: the header names the column "url" twice',
    ],
    [
      'with a broken line of JSON',
      column('in.jsonl'),
      { 'in.jsonl': '{"url":"http://a.example"}\n\n{"url":\n' },
      /^a: in\.jsonl:3: this line is not JSON \(.*\); allowed is one JSON value per line$/,
    ],
    [
      'that may be a JSON document',
      column('in.json'),
      { 'in.json': '["http://a.example"]' },
      'a: in.json may be one JSON document; allowed is a .jsonl file with one JSON value per line, a .csv or a .tsv file, or text',
    ],
    [
      'of text, asked for a column',
      column('in.txt'),
      { 'in.txt': 'a\n' },
      'a: in.txt has no named columns; use a .csv, .tsv or .jsonl file, or write for_each: { FIELD: { file: PATH } }',
    ],
  ])('%s', async (_, sync, files, message) => {
    const [first, second, ...more] = await refusal(sync, files);
    expect(first).toMatch(message);
    expect([second, more]).toEqual([AT, []]);
  });

  it('of text, whose fields are requested', async () => {
    expect((await refusal(`${PAGE}, for_each: { file: in.txt }`, { 'in.txt': 'a\n' }))[0]).toMatch(
      /^a: in\.txt has no named columns/,
    );
  });

  it('without the column that the config names: the error names the file, its columns and the nearest one', async () => {
    const csv = 'url,x\nhttp://a.example,1\nhttp://b.example,2\n';
    expect(await refusal(column('in.csv', 'ulr'), { 'in.csv': csv })).toEqual([
      'a: 2 inputs are refused',
      '  in.csv:1: there is no column "ulr"; did you mean "url"? allowed: url, x',
      '  defined at sluice.yaml:4:52',
    ]);
    expect((await refusal(`${PAGE}, for_each: { url: { file: in.csv } }`, { 'in.csv': 'a,b\n1,2\n' }))[1]).toBe(
      '  in.csv:1: the columns are a, b; allowed is one column, one named url',
    );
    expect((await refusal(column('in.jsonl', 'ulr'), { 'in.jsonl': '{"url":1}\n{"url":2}\n' })).slice(1, 3)).toEqual([
      '  in.jsonl:1: there is no column "ulr"; did you mean "url"? allowed: url',
      '  in.jsonl:2: there is no column "ulr"; did you mean "url"? allowed: url',
    ]);
  });

  it('with values of another separator in their only column', async () => {
    const url = `${PAGE}, for_each: { url: { file: FILE } }`;
    const first = async (file: string, text: string) => (await refusal(url.replace('FILE', file), { [file]: text }))[0];
    expect(await first('in.csv', 'url;label\nhttps://a.example/x;Foo\n')).toBe(
      'a: in.csv:1: the header is url;label, a single column; separate cells with commas, or set column',
    );
    expect(await first('in.csv', 'url\tlabel\nhttps://a.example/x\tFoo\n')).toBe(
      'a: in.csv:1: the header is "url\\tlabel", a single column; separate cells with commas, or set column',
    );
    expect(await first('in.tsv', 'url,label\nhttps://a.example/x,Foo\n')).toBe(
      'a: in.tsv:1: the header is url,label, a single column; separate cells with tabs, or set column',
    );
    expect(
      await read(`${PAGE}, for_each: { url: { file: in.csv, column: a;b } }`, {
        'in.csv': 'a;b\nhttps://a.example/\n',
      }),
    ).toEqual([{ url: 'https://a.example/' }]);
  });

  it('without a header, if its first line can only be a value', async () => {
    const csv = { 'in.csv': 'https://a.example/\nhttps://b.example/\n' };
    expect(await refusal(`${PAGE}, for_each: { url: { file: in.csv } }`, csv)).toEqual([
      'a: in.csv:1: the first line is https://a.example/, a value of url; allowed is the name of the column',
      AT,
    ]);
    for (const text of ['fsd_profile:a\nfsd_profile:b\n', 'fsd_profile:a,max_age\nfsd_profile:b,1d\n'])
      expect((await refusal(`${URN_SYNC}, for_each: { urn: { file: in.csv } }`, { 'in.csv': text }))[0]).toBe(
        'a: in.csv:1: the first line is fsd_profile:a, a value of urn; allowed is the name of the column',
      );
  });

  it('from a device, which may have no end', async () => {
    expect((await refusal(`${PAGE}, for_each: { url: { file: /dev/null } }`))[0]).toMatch(
      /^a: \/dev\/null can't be read \(it is a device\); allowed is a readable file/,
    );
  });

  it('with rows that break the contract, each named with its line', async () => {
    const csv = 'url,x\nhttp://a.example/,1\nhttp://b,2\n"http://c.example/\nbroken",3\nftp://d.example/,4\n,5\n';
    expect(await refusal(column('in.csv'), { 'in.csv': csv })).toEqual([
      'a: 4 inputs are refused',
      '  in.csv:3: url is http://b; allowed is text of 10 to 2083 characters',
      '  in.csv:4: url is "http://c.example/\\nbroken"; must not hold line breaks, tabs or other control characters',
      '  in.csv:6: url is ftp://d.example/; must be an absolute http or https address',
      '  in.csv:7: url is empty; allowed is a value in every row',
      '  defined at sluice.yaml:4:52',
    ]);
    const windows = csv.replaceAll('\n', '\r\n');
    expect((await refusal(column('in.csv'), { 'in.csv': windows })).slice(2, 5)).toEqual([
      '  in.csv:4: url is "http://c.example/\\r\\nbroken"; must not hold line breaks, tabs or other control characters',
      '  in.csv:6: url is ftp://d.example/; must be an absolute http or https address',
      '  in.csv:7: url is empty; allowed is a value in every row',
    ]);
  });

  it('with a URN of the wrong type, an unknown field, or one that is set already', async () => {
    expect(
      (
        await refusal(`${URN_SYNC}, for_each: { urn: { file: in.txt } }`, {
          'in.txt': 'fsd_profile:a\nactivity:b\nada\n',
        })
      ).slice(1, 3),
    ).toEqual([
      '  in.txt:2: urn is activity:b; only URNs of type fsd_profile are allowed here, found "activity"',
      '  in.txt:3: urn is ada; allowed is a URN of type fsd_profile, written fsd_profile:VALUE, urn:li:fsd_profile:VALUE or { type: fsd_profile, value: VALUE }',
    ]);
    expect(
      (await refusal(`${URN_SYNC}, for_each: { file: in.csv }`, { 'in.csv': 'urn,cuont\nfsd_profile:a,1\n' }))[1],
    ).toBe(
      '  in.csv:1: pronet.user.education has no field "cuont"; did you mean "count"? allowed: urn, count, timeout, alias',
    );
    expect(
      (await refusal(`${URN_SYNC}, for_each: { file: in.csv }`, { 'in.csv': 'urn,count\nfsd_profile:a,1\n' }))[1],
    ).toBe('  in.csv:1: count is set by request and by for_each; allowed is one of them');
  });

  it('with fields that the window fills in', async () => {
    const sync =
      'endpoint: sec.search.companies, request: { count: 1 }, window: { from: 2024-01-01 }, for_each: { file: in.csv }';
    expect((await refusal(sync, { 'in.csv': 'entity_name,date_to\nA,2024-01-01\n' }))[1]).toBe(
      '  in.csv:1: date_to is set by window; allowed is one of them',
    );
  });

  it('with a cell that no warehouse holds', async () => {
    expect(
      (
        await refusal('endpoint: microblog.user, for_each: { user: { file: in.jsonl } }', {
          'in.jsonl': '"a\\u0000"\n"\\ud800"\n',
        })
      ).slice(1, 3),
    ).toEqual([
      '  in.jsonl:1: user: the text contains a NUL character; remove it',
      '  in.jsonl:2: user: the text contains half of a surrogate pair; write the complete character',
    ]);
  });

  it('with such a cell inside of a URN or a list, which differ by endpoint', async () => {
    const urn = { 'in.jsonl': `{"urn":{"type":"fsd_profile","value":"a\\u0000"}}\n` };
    expect((await refusal(`${URN_SYNC}, for_each: { file: in.jsonl }`, urn))[1]).toBe(
      '  in.jsonl:1: urn: the text contains a NUL character; remove it',
    );
    const list = { 'in.jsonl': '{"forms":["10-K","\\ud800"]}\n' };
    const search = 'endpoint: sec.search.companies, request: { count: 1 }, for_each: { file: in.jsonl }';
    expect((await refusal(search, list))[1]).toBe(
      '  in.jsonl:1: forms: the text contains half of a surrogate pair; write the complete character',
    );
  });

  it('with days that end before they begin, together with those of the request', async () => {
    const search =
      'endpoint: sec.search.companies, request: { count: 1, date_from: 2024-02-01 }, for_each: { file: in.csv }';
    expect(
      (await refusal(search, { 'in.csv': 'entity_name,date_to\nA,2024-02-01\nB,2024-01-31\n' })).slice(1, 2),
    ).toEqual([
      '  input 2: date_from is 2024-02-01, after date_to, 2024-01-31; allowed is a first one on or before the last',
    ]);
  });

  it('with a row that sets no field: it would be the search without filters', async () => {
    const search = 'endpoint: sec.search.companies, request: { count: 1 }';
    const EMPTY = 'every request field is empty; allowed is at least one value';
    const csv = { 'in.csv': 'entity_name,max_age\nA,1d\n,2d\n' };
    expect((await refusal(`${search}, for_each: { file: in.csv }`, csv)).slice(0, 2)).toEqual([
      'a: an input is refused',
      `  in.csv:3: ${EMPTY}`,
    ]);
    const jsonl = { 'in.jsonl': '{"entity_name":null}\n{"entity_name":""}\n{}\n{"entity_name":"A"}\n' };
    expect((await refusal(`${search}, for_each: { file: in.jsonl }`, jsonl)).slice(1, -1)).toEqual(
      [1, 2, 3].map((line) => `  in.jsonl:${line}: ${EMPTY}`),
    );
    const rows = [
      { entity_name: 'A', forms: null },
      { entity_name: null, forms: null },
    ];
    expect((await refusal(`${search}, for_each: { query: select 1 }`, {}, rows)).slice(1, -1)).toEqual([
      `  row 2 of the query: ${EMPTY}`,
    ]);
  });

  it('lists twenty rows and counts the rest', async () => {
    const lines = await refusal(column('in.csv'), { 'in.csv': `url,x\n${'a,b\n'.repeat(100)}` });
    expect([lines.length, lines[0], lines[21]]).toEqual([23, 'a: 100 inputs are refused', '  and 80 more']);
  });

  it('whose rows leave the request incomplete', async () => {
    expect(
      await refusal('endpoint: photoshare.user.posts, for_each: { file: in.csv }', {
        'in.csv': 'user,count\na,1\nb,\n',
      }),
    ).toEqual([
      'a: an input is refused',
      '  input 2: missing: count (allowed is a whole number of at least 1)',
      '  defined at sluice.yaml:4:51',
    ]);
  });
});

describe('queries', () => {
  const QUERY = '{ query: "select 1" }';

  it('give a URN by the columns type and value, or by their only column', async () => {
    expect(
      await read(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, [
        { type: 'fsd_profile', value: 'a' },
        { type: 'fsd_profile', value: 9n },
      ]),
    ).toEqual([{ urn: { type: 'fsd_profile', value: 'a' } }, { urn: { type: 'fsd_profile', value: '9' } }]);
    expect(await read(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, [{ anything: 'fsd_profile:a' }])).toEqual([
      { urn: { type: 'fsd_profile', value: 'a' } },
    ]);
  });

  it('give fields by their columns, URNs as the warehouse names them, and leave nulls out', async () => {
    const rows = [
      { urn_type: 'fsd_profile', urn_value: 'a', alias: null },
      { urn_type: 'fsd_profile', urn_value: 'b', alias: 'bee' },
    ];
    expect(await read(`${URN_SYNC}, for_each: ${QUERY}`, {}, rows)).toEqual([
      { urn: { type: 'fsd_profile', value: 'a' } },
      { urn: { type: 'fsd_profile', value: 'b' }, alias: 'bee' },
    ]);
  });

  it('give numbers, dates and lists as the contract wants them', async () => {
    const rows = [
      { count: 5n, entity_name: 320193, forms: ['10-K', '10-Q'], date_from: '2024-01-01' },
      { count: '6', forms: '8-K' },
    ];
    expect(await read(`endpoint: sec.search.companies, for_each: ${QUERY}`, {}, rows)).toEqual([
      { count: 5, entity_name: '320193', forms: ['10-K', '10-Q'], date_from: '2024-01-01' },
      { count: 6, forms: ['8-K'] },
    ]);
  });

  it('without rows give no inputs: the parent’s table may be empty yet', async () => {
    expect(await read(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, [])).toEqual([]);
  });

  it('name the rows that are refused', async () => {
    const rows = [
      { type: 'fsd_profile', value: 'a' },
      { type: 'fsd_company', value: 'b' },
      { type: null, value: null },
    ];
    expect(await refusal(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, rows)).toEqual([
      'a: 2 inputs are refused',
      '  row 2 of the query: type is fsd_company; only URNs of type fsd_profile are allowed here, found "fsd_company"',
      '  row 3 of the query: urn is empty; allowed is a value in every row',
      '  defined at sluice.yaml:4:82',
    ]);
    expect((await refusal(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, [{ id: 1, name: 'x' }]))[1]).toBe(
      '  the query: the columns are id, name; allowed is one column, one named urn, or type and value',
    );
    expect((await refusal(`${URN_SYNC}, for_each: { urn: ${QUERY} }`, {}, [{ urn: null }]))[1]).toBe(
      '  row 1 of the query: urn is empty; allowed is a value in every row',
    );
  });
});

describe('an age of an input', () => {
  const USER = 'endpoint: microblog.user';
  const aged = async (...given: Parameters<typeof readAged>): Promise<unknown[]> =>
    (await readAged(...given)).map(({ fields, maxAgeMs }) => [fields, maxAgeMs]);
  const [A, B] = users('a', 'b');
  const HOUR_MS = 3_600_000;

  it('is written among the fields, in lists, files and queries, and is not one of them', async () => {
    const expected = [
      [A, HOUR_MS],
      [B, undefined],
    ];
    const inColumns = `${USER}, for_each: { file: in.csv }`;
    const inOne = (file: string): string => `${USER}, for_each: { user: { file: ${file} } }`;
    const csv = { 'in.csv': 'user,max_age\na,1h\nb,\n' };
    expect(await aged(`${USER}, for_each: [{ user: a, max_age: 1h }, { user: b, max_age: null }]`)).toEqual(expected);
    expect(await aged(`${USER}, for_each: [{ max_age: 1h, user: a }, { user: b, max_age: "" }]`)).toEqual(expected);
    expect(await aged(inColumns, csv)).toEqual(expected);
    expect(await aged(inOne('in.csv'), csv)).toEqual(expected);
    expect(await aged(inOne('in.csv'), { 'in.csv': 'name,max_age\na, 1h \nb,\n' })).toEqual(expected);
    const jsonl = { 'in.jsonl': '{"user":"a","max_age":"60m"}\n{"user":"b","max_age":null}\n' };
    expect(await aged(`${USER}, for_each: { file: in.jsonl }`, jsonl)).toEqual(expected);
    expect(await aged(inOne('in.jsonl'), jsonl)).toEqual(expected);
    const rows = [
      { user: 'a', max_age: '1h' },
      { user: 'b', max_age: null },
    ];
    expect(await aged(`${USER}, for_each: { query: select 1 }`, {}, rows)).toEqual(expected);
    expect(await aged(`${USER}, for_each: { user: { query: select 1 } }`, {}, rows)).toEqual(expected);
  });

  it('is accepted together with a URN in separate columns', async () => {
    const rows = [{ type: 'fsd_profile', value: 'a', max_age: '1h' }];
    expect(await aged(`${URN_SYNC}, for_each: { urn: { query: select 1 } }`, {}, rows)).toEqual([
      [{ urn: { type: 'fsd_profile', value: 'a' } }, HOUR_MS],
    ]);
  });

  it('holds for every request of a cross product', async () => {
    const sync = 'endpoint: photoshare.user.posts, for_each: { user: { file: in.csv }, count: [1, 2] }';
    expect(await aged(sync, { 'in.csv': 'user,max_age\na,1h\n' })).toEqual([
      [{ user: 'a', count: 1 }, HOUR_MS],
      [{ user: 'a', count: 2 }, HOUR_MS],
    ]);
  });

  it.each([
    [
      'soon',
      'max_age is soon; allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w',
    ],
    [
      '42',
      'max_age is 42; allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w',
    ],
    ['0d', 'max_age is 0d; leave it empty to use the max_age of the sync'],
    ['99999w', 'max_age is 99999w; allowed is at most a century, 36525d'],
  ])('%s is refused with its place', async (age, message) => {
    const csv = `user,max_age\na,1h\nb,${age}\n`;
    for (const forEach of ['{ file: in.csv }', '{ user: { file: in.csv, column: user } }'])
      expect(await refusal(`${USER}, for_each: ${forEach}`, { 'in.csv': csv })).toEqual([
        'a: an input is refused',
        `  in.csv:3: ${message}`,
        expect.stringMatching(/^ {2}defined at sluice\.yaml:4:\d+$/),
      ]);
    const rows = [{ user: 'a' }, { user: 'b', max_age: age }];
    expect((await refusal(`${USER}, for_each: { query: select 1 }`, {}, rows))[1]).toBe(
      `  row 2 of the query: ${message}`,
    );
  });
});

describe('a file that arrives in parts', () => {
  const SOME = fc.string({
    unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', '\t', ';', 'é', '🜚', '\\', "'"),
    minLength: 1,
    maxLength: 12,
  });
  const PART = fc.integer({ min: 1, max: 9 });
  const NO_QUERY = () => Promise.resolve([]);
  const usersIn = async (path: string, text: string, size: number): Promise<unknown[]> => {
    const named = path.endsWith('.txt') ? { column: undefined } : { column: 'user' };
    const sync = syncOf('microblog.user', {
      forEach: [{ from: 'file', path, field: 'user', where: 'a:1:1', ...named }],
    });
    const inputs = await readInputs(sync, { readFile: () => inParts(text, size), query: NO_QUERY });
    return inputs.map(({ fields }) => fields['user']);
  };

  it('as CSV returns every text as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(SOME, { minLength: 1, maxLength: 6 }), PART, async (cells, size) => {
        const csv = `\uFEFFuser,x\n${cells.map((it) => `"${it.replaceAll('"', '""')}",1`).join('\n')}\n`;
        expect(await usersIn('in.csv', csv, size)).toEqual(cells);
      }),
      { numRuns: 60 },
    );
  });

  it('as CSV returns the same cells, whatever ends a line', async () => {
    const END = fc.constantFrom('\n', '\r\n', '\r', '\n\n', ' \r\n', '\r\r\n');
    const NAME = fc.string({ unit: fc.constantFrom('a', 'é', '🜚', '\u2028'), minLength: 1, maxLength: 4 });
    const BLANK = fc.constantFrom('', ' ', '  ', '\t');
    const LINE = fc.tuple(BLANK, NAME, BLANK, fc.boolean(), END);
    await fc.assert(
      fc.asyncProperty(fc.array(LINE, { minLength: 1, maxLength: 8 }), PART, async (lines, size) => {
        const rows = lines.map(([before, name, after, quoted, end]) =>
          quoted ? `${before}"${after}${name}"${after},1${end}` : `${before}${name}${after},1${end}`,
        );
        const expected = lines.map(([, name, after, quoted]) => (quoted ? `${after}${name}` : name.trim()));
        fc.pre(expected.every((it) => it !== ''));
        expect(await usersIn('in.csv', `user,x\n${rows.join('')}`, size)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('as lines returns what it returns in one part, whatever ends a line', async () => {
    const END = fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\r\n');
    const WORD = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '🜚', '\u2028'), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(WORD, END), { minLength: 1, maxLength: 8 }), PART, async (lines, size) => {
        const text = lines.flat().join('');
        const expected = lines.map(([word]) => word.trim()).filter((it) => it !== '');
        fc.pre(expected.length > 0);
        expect(await usersIn('in.txt', text, size)).toEqual(expected);
        const json = lines.map(([word, end]) => `${JSON.stringify({ user: word })}${end}`).join('');
        expect(await usersIn('in.jsonl', json, size)).toEqual(lines.map(([word]) => word));
      }),
      { numRuns: 60 },
    );
  });

  it('is read once if it is a pipe', () =>
    inFolder({}, async (folder) => {
      const path = join(folder, 'in.csv');
      await promisify(execFile)('mkfifo', [path]);
      const written = writeFile(path, 'user\na\nb\n');
      const sync = syncOf('microblog.user', {
        forEach: [{ from: 'file', path, field: 'user', column: 'user', where: 'a:1:1' }],
      });
      const { blocks } = await openInputs(sync, { readFile: inputFiles(), query: NO_QUERY });
      for (const _ of [1, 2])
        expect((await Array.fromAsync(blocks())).flat().map(({ fields }) => fields)).toEqual(users('a', 'b'));
      await written;
    }));

  it('is refused if it is not UTF-8, also in a pipe', () =>
    inFolder({}, async (folder) => {
      const path = join(folder, 'in.csv');
      const sync = syncOf('microblog.user', {
        forEach: [{ from: 'file', path, field: 'user', column: 'user', where: 'a:1:1' }],
      });
      const read = () => readInputs(sync, { readFile: inputFiles(), query: NO_QUERY });
      const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
      // The characters of three and two bytes lie across the ends of the parts of 64 KiB in which a file is read.
      const long = Buffer.from(`user\n${`${'\uFFFDéa'.repeat(5)}\n`.repeat(7_000)}`);
      expect([3, 1].map((part) => long.subarray(part * 2 ** 16 - 1).readUInt16BE())).toEqual([0xefbf, 0xc3a9]);
      await writeFile(path, long);
      expect(await read()).toHaveLength(7_000);
      for (const [bytes, line] of [
        [latin1('user\nAda\nJos\u00E9\n'), 3],
        [Buffer.concat([long, latin1('Jos\u00EF\n')]), 7_002],
        [Buffer.from('user\nAd\uFFFD').subarray(0, -2), 2],
        [Buffer.from('\uFEFFuser\nAda\n', 'utf16le'), 1],
      ] as const) {
        await writeFile(path, bytes);
        await expect(read()).rejects.toThrow(
          `a: ${path}:${line}: this line is not UTF-8 text; save the file as UTF-8\n  defined at a:1:1`,
        );
      }
      await rm(path);
      await promisify(execFile)('mkfifo', [path]);
      const written = writeFile(path, latin1('user\nJos\u00E9\n'));
      await expect(read()).rejects.toThrow('in.csv:2: this line is not UTF-8 text');
      await written;
    }));

  it('names the line of an error in a later part', async () => {
    const text = `${'{"user": "a"}\r\n'.repeat(40)}{"user": \n`;
    await expect(usersIn('in.jsonl', text, 7)).rejects.toThrow('in.jsonl:41: this line is not JSON');
    const csv = `user\n${'"a\nb"\n'.repeat(40)}c,d\n`;
    await expect(usersIn('in.csv', csv, 7)).rejects.toThrow('in.csv:82: 2 cells found; the header names 1');
  });

  it('lists all refused rows of all parts', async () => {
    const rows = Array.from({ length: 12_000 }, (_, at) => (at % 1000 === 999 ? '""' : `u${at}`));
    await expect(usersIn('in.csv', `user\n${rows.join('\n')}\n`, 1000)).rejects.toThrow(
      /^a: 12 inputs are refused\n  in\.csv:1001: user is empty.*\n(?:.*\n){10}  in\.csv:12001: user is empty/,
    );
  });
});
