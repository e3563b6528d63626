/** What a service can write into a body. */
import * as zlib from 'node:zlib';
import { type HostileCase, ITEM, loads, NO_JSON, rejects, VALID, whole } from './hostile-case.ts';

const utf16 = (text: string, mark: boolean): Buffer => Buffer.from(`${mark ? '\ufeff' : ''}${text}`, 'utf16le');
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const item = (more: string): string => `[${ITEM.slice(0, -1)},${more}}]`;

/** Every case of these. */
export const bodyCases: readonly HostileCase[] = [
  loads('begins with a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), VALID])),
  loads('puts white space around the JSON', `\r\n\t ${VALID.toString()} \n\n`),
  rejects('adds garbage after the JSON', `${VALID.toString()}garbage`),
  rejects('sends two JSON documents', VALID.toString() + VALID.toString()),
  rejects('sends JSON lines', `${ITEM}\n${ITEM}\n`),
  rejects(
    'nests arrays 200,000 deep',
    deep(200_000),
    /^not a MicroblogUser: found an array$|^the body is nested too deeply$/,
  ),
  rejects('nests arrays 200,000 deep in a field', item(`"x":${deep(200_000)}`), /deep|call stack/i),
  rejects('nests arrays 200,000 deep without end', '['.repeat(200_000)),
  loads(
    'names fields like the parts of a prototype',
    item('"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":2'),
    {
      row: {
        name: 'Ada',
        extra: '{"toString": 2, "__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}',
      },
    },
  ),
  loads('sends another @type', `[${ITEM.replace('@microblog_user', '@something_else')}]`, {
    row: { extra: '{"@type": "@something_else"}' },
  }),
  loads('sends more items than asked', `[${ITEM},${ITEM.replaceAll('7', '8')}]`),
  loads('sends another entity than asked', `[${ITEM.replaceAll('ada', 'grace').replaceAll('7', '9')}]`, {
    row: { alias: 'grace' },
  }),
  rejects(
    'sends an item of another kind',
    '[{"accession_number":"0-1","file_name":"x"}]',
    /^not a MicroblogUser: it lacks any field of MicroblogUser$/,
  ),
  ...['NaN', 'Infinity', '-Infinity', 'undefined', "'x'", '0x1F', '01', '1.', '.5', '+1'].map((value) =>
    rejects(`sends ${value}, which is no JSON`, item(`"follower_count":${value}`)),
  ),
  loads('sends 1e400', item('"follower_count":1e400'), { row: { follower_count: null } }),
  loads('sends an integer of 25 digits', item('"follower_count":1234567890123456789012345'), {
    row: { follower_count: null, extra: '{"follower_count": 1234567890123456789012345}' },
  }),
  loads('sends a number of a million digits', item(`"follower_count":${'9'.repeat(1_000_000)}`), {
    row: { follower_count: null },
  }),
  loads('sends the same key twice', item('"name":"First","name":"Last"'), { row: { name: 'Last' } }),
  loads(
    'sends bytes that are no UTF-8',
    Buffer.concat([
      Buffer.from(`[${ITEM.slice(0, -1)},"location":"`),
      Buffer.from([0xff, 0xfe, 0x80]),
      Buffer.from('"}]'),
    ]),
    {
      row: { location: '\ufffd\ufffd\ufffd' },
    },
  ),
  loads('sends NULs and half characters as escapes', item('"location":"a\\u0000b\\ud800"'), {
    row: { location: 'ab\ufffd' },
  }),
  rejects('sends NUL bytes', Buffer.concat([VALID, Buffer.alloc(10)])),
  rejects('sends UTF-16 with a mark', utf16(VALID.toString(), true)),
  rejects('sends UTF-16 without a mark', utf16(VALID.toString(), false)),
  rejects('sends an empty body', '', /^the body is empty; expected a JSON array$/),
  rejects('sends blanks alone', ' \n\t', /^the body is empty; expected a JSON array$/),
  rejects('sends null', 'null', /^the body is null; expected a JSON array$/),
  rejects('sends true', 'true', /^the body is a boolean; expected a JSON array$/),
  rejects('sends a number', '17', /^the body is a number; expected a JSON array$/),
  rejects('sends a text', '"[]"', /^the body is a string; expected a JSON array$/),
  rejects('sends an empty object', '{}', /^the body is an object without any field of MicroblogUser/),
  rejects(
    'sends an envelope',
    `{"data":${VALID.toString()},"next":null}`,
    /^the body is an object without any field of MicroblogUser/,
  ),
  rejects('sends an array of nulls', '[null]', /^not a MicroblogUser: found null$/),
  loads('sends a lone object', ITEM),
  { does: 'sends an empty array', answer: whole('[]'), ends: 'empty', kept: Buffer.from('[]') },
  rejects(
    'sends a web page as 200',
    '<!doctype html><title>Down</title>',
    /^the body is HTML or XML; expected a JSON array$/,
    { 'content-type': 'text/html' },
  ),
  rejects('sends a web page and calls it JSON', '<html>', /^the body is HTML or XML/, {
    'content-type': 'application/json',
  }),
  loads('sends JSON and calls it a web page', VALID, { headers: { 'content-type': 'text/html; charset=utf-16' } }),
  loads('sends plain JSON and calls it gzip', VALID, { headers: { 'content-encoding': 'gzip' } }),
  loads('names an encoding that nobody knows', VALID, { headers: { 'content-encoding': 'snappy' } }),
  rejects('sends gzip that is cut', zlib.gzipSync(VALID).subarray(0, 30), NO_JSON, { 'content-encoding': 'gzip' }),
];
