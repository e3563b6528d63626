/** What a service can do to a call short of its body: to the connection, the lengths, the time, the encoding, the status. */
import * as zlib from 'node:zlib';
import { head, type HostileCase, loads, raw, VALID, whole } from './hostile-case.ts';
import type { Answer } from './hostile-server.ts';

const LOST = /^the connection was lost (?:before an answer came|in the middle of the answer) \(\w+\)$/;
const SHORT_MS = 400;
const NOT_WHOLE = /^the answer was not complete within 0\.4 s$/;
const NO_ANSWER = /^no answer within 0\.4 s$/;
const NO_HTTP = /^the answer is not HTTP$/;
const HEADERS_TOO_LARGE = /^the answer's headers are larger than 256 KiB$/;
const CONTINUED = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n[]');
/** Status and headers of the valid answer. */
const full = head(200, { 'content-length': VALID.length, 'content-type': 'application/json' });

const resets: readonly HostileCase[] = [
  {
    does: 'resets the connection after the whole answer',
    answer: raw(full + VALID.toString(), 'reset'),
    ends: 'loaded',
    kept: VALID,
  },
  ...(['reset', 'close'] as const).flatMap((end): HostileCase[] =>
    (
      [
        ['before any byte of an answer', ''],
        ['in the status line', 'HTTP/1.1 20'],
        ['in the headers', full.slice(0, 40)],
        ['after the headers', full],
        ['after the first byte of the body', `${full}[`],
        ['in the middle of the body', full + VALID.subarray(0, VALID.length / 2).toString()],
        ['before the last byte of the body', full + VALID.subarray(0, -1).toString()],
        ['in a chunk', `${head(200, { 'transfer-encoding': 'chunked' })}40\r\n[{"rest_id"`],
        ['between two chunks', `${head(200, { 'transfer-encoding': 'chunked' })}1\r\n[\r\n`],
        ['after the last chunk, before its end', `${head(200, { 'transfer-encoding': 'chunked' })}2\r\n[]\r\n0\r\n`],
      ] as const
    ).map(([where, bytes]) => ({
      does: `${end === 'reset' ? 'resets' : 'closes'} the connection ${where}`,
      answer: raw(bytes, end),
      ends: 'lost' as const,
      because: /^the connection was lost|^the answer is not (?:HTTP|as long as its header says)$/,
    })),
  ),
];

const lengths: readonly HostileCase[] = [
  {
    does: 'announces fewer bytes than it sends',
    answer: raw(head(200, { 'content-length': 20 }) + VALID.toString(), 'stay'),
    ends: 'quarantined',
    because: /^the body is cut off or not valid JSON$/,
    kept: VALID.subarray(0, 20),
  },
  {
    does: 'announces more bytes than it sends, and closes',
    answer: raw(head(200, { 'content-length': VALID.length + 9, connection: 'close' }) + VALID.toString(), 'close'),
    ends: 'lost',
    because: /^the answer is not as long as its header says$|^the connection was lost/,
  },
  {
    does: 'announces more bytes than it sends, and waits',
    answer: raw(head(200, { 'content-length': VALID.length + 9 }) + VALID.toString(), 'stay'),
    ends: 'lost',
    because: NOT_WHOLE,
    deadlineMs: SHORT_MS,
  },
  {
    does: 'announces two lengths',
    answer: raw(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[] `, 'stay'),
    ends: 'lost',
    because: /^the answer is not as long as its header says$/,
  },
  {
    does: 'announces a length and chunks',
    answer: raw(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
      'stay',
    ),
    ends: 'lost',
    because: /^the answer is not as long as its header says$/,
  },
  {
    does: 'announces a length that is no number',
    answer: raw('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n[]', 'stay'),
    ends: 'lost',
    because: NO_HTTP,
  },
  {
    does: 'announces nothing and closes after the body',
    answer: raw(head(200) + VALID.toString(), 'close'),
    ends: 'loaded',
    kept: VALID,
  },
  {
    does: 'announces nothing and closes in the middle of the body',
    answer: raw(head(200) + VALID.subarray(0, 50).toString(), 'close'),
    ends: 'quarantined',
    because: /^the body is cut off or not valid JSON$/,
    kept: VALID.subarray(0, 50),
  },
  {
    does: 'sends chunks without an end',
    answer: raw(`${head(200, { 'transfer-encoding': 'chunked' })}2\r\n[]\r\n`, 'stay'),
    ends: 'lost',
    because: NOT_WHOLE,
    deadlineMs: SHORT_MS,
  },
  {
    does: 'sends chunks whose size is no number',
    answer: raw(`${head(200, { 'transfer-encoding': 'chunked' })}zz\r\n[]\r\n`, 'stay'),
    ends: 'lost',
    because: /^the answer is not HTTP$|^the connection was lost/,
  },
  {
    does: 'sends a second answer that nobody asked for',
    answer: raw(full + VALID.toString() + full + VALID.toString(), 'stay'),
    ends: 'loaded',
    kept: VALID,
  },
];

/** One byte every 30 ms, each sooner than any timer between bytes would fire. */
const dripping =
  (first: string): Answer =>
  (socket) => {
    socket.write(first);
    const drip = setInterval(() => socket.write('x'), 30);
    socket.on('close', () => clearInterval(drip));
  };

const slowness: readonly HostileCase[] = [
  { does: 'says nothing', answer: () => undefined, ends: 'lost', because: NO_ANSWER, deadlineMs: SHORT_MS },
  {
    does: 'drips its headers byte by byte',
    answer: dripping('HTTP/1.1 200 OK\r\nx: '),
    ends: 'lost',
    because: NO_ANSWER,
    deadlineMs: SHORT_MS,
  },
  {
    does: 'drips its body byte by byte',
    answer: dripping(head(200, { 'content-length': 1000 })),
    ends: 'lost',
    because: NOT_WHOLE,
    deadlineMs: SHORT_MS,
  },
  {
    does: 'sends interim answers without an end',
    answer: (socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(more));
    },
    ends: 'lost',
    because: NO_ANSWER,
    deadlineMs: SHORT_MS,
  },
];

/** The cap that the tests of it use. */
export const CAP_BYTES = 2 ** 20;
const zeros = Buffer.alloc(64 * CAP_BYTES);
const TOO_LARGE = /^the answer is larger than 1 MiB$/;
const bombs: readonly HostileCase[] = [
  ...(
    [
      ['gzip', zlib.gzipSync(zeros)],
      ['br', zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
      ['zstd', zlib.zstdCompressSync(zeros)],
      ['gzip, gzip', zlib.gzipSync(zlib.gzipSync(zeros))],
    ] as const
  ).map(([encoding, bytes]) => ({
    does: `sends a bomb as ${encoding}: small on the wire, larger than is taken once it is decoded`,
    answer: whole(bytes, { 'content-encoding': encoding }),
    ends: 'tooLarge' as const,
    because: TOO_LARGE,
  })),
  {
    does: 'sends a body larger than is taken',
    answer: whole(zeros.subarray(0, CAP_BYTES + 1)),
    ends: 'tooLarge',
    because: TOO_LARGE,
  },
  {
    does: 'sends a body without end',
    answer: (socket) => {
      socket.write(head(200, { 'transfer-encoding': 'chunked' }));
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const more = (): void => {
        if (!socket.destroyed) socket.write(chunk, () => setImmediate(more));
      };
      more();
    },
    ends: 'tooLarge',
    because: TOO_LARGE,
  },
];

/** These bytes, each in a piece of its own. */
const dribbled =
  (bytes: string): Answer =>
  (socket) => {
    socket.setNoDelay(true);
    const send = (at: number): void => {
      if (at < bytes.length && !socket.destroyed)
        socket.write(bytes.slice(at, at + 1), () => setImmediate(send, at + 1));
    };
    send(0);
  };

const statuses: readonly HostileCase[] = [
  ...[301, 302, 303, 307, 308, 300].map(
    (status): HostileCase => ({
      does: `redirects (${status}) to another host`,
      answer: (socket) => socket.write(head(status, { location: 'http://127.0.0.1:1/elsewhere', 'content-length': 0 })),
      ends: 'redirected',
      because: new RegExp(`^the service redirected to another address \\(${status}\\); the token was not sent there$`),
    }),
  ),
  {
    does: 'answers 304, though no call has a condition',
    answer: (socket) => socket.write(head(304, { etag: '"x"' })),
    ends: 'rejected',
    because: /^the service answered 304 and gave no reason$/,
  },
  {
    does: 'answers 204',
    answer: (socket) => socket.write(head(204)),
    ends: 'quarantined',
    because: /^the body is empty/,
    kept: Buffer.alloc(0),
  },
  {
    does: 'answers 500 whatever it is asked',
    answer: whole('{"detail":"oh"}', {}, 500),
    ends: 'unavailable',
    because: /^the service answered 500: oh$/,
  },
  {
    does: 'answers 206, a part of an answer',
    answer: whole(VALID, { 'content-range': 'bytes 0-99/1000' }, 206),
    ends: 'quarantined',
    because: /^the service says that this is a part of its answer \(206\)$/,
    kept: VALID,
  },
  {
    does: 'sends interim answers first',
    answer: raw(
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${full}${VALID.toString()}`,
      'stay',
    ),
    ends: 'loaded',
    kept: VALID,
  },
  ...(
    [
      ['100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${full}`],
      ['100 Continue with headers', `HTTP/1.1 100 Continue\r\nx-note: a\r\ndate: now\r\n\r\n${full}`],
      ['100 Continue without a reason', `HTTP/1.1 100\r\n\r\n${full}`],
      ['100 Continue of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${full}`],
      ['ten of 100 Continue', `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(10)}${full}`],
      [
        '102, 100, 103 and 100 in turn',
        `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 \r\n\r\n${full}`,
      ],
      ['199', `HTTP/1.1 199 Whatever\r\n\r\n${full}`],
    ] as const
  ).flatMap(([what, first]): HostileCase[] => [
    {
      does: `sends an unasked ${what} first`,
      answer: raw(first + VALID.toString(), 'stay'),
      ends: 'loaded',
      kept: VALID,
    },
    {
      does: `sends an unasked ${what} first, byte by byte`,
      answer: dribbled(first + VALID.toString()),
      ends: 'loaded',
      kept: VALID,
    },
  ]),
  {
    does: 'sends an unasked 100 Continue and closes',
    answer: raw('HTTP/1.1 100 Continue\r\n\r\n', 'close'),
    ends: 'lost',
    because: LOST,
  },
  {
    does: 'sends a body that begins like an interim answer, in a piece of its own',
    answer: (socket) => {
      socket.write(head(200, { 'content-length': CONTINUED.length }), () => {
        setTimeout(() => socket.write(CONTINUED), 20);
      });
    },
    ends: 'quarantined',
    kept: CONTINUED,
  },
  ...['HTTP/1.0 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 200 '].map(
    (line): HostileCase => ({
      does: `begins its answer with "${line}"`,
      answer: raw(`${line}\r\ncontent-length: ${VALID.length}\r\n\r\n${VALID.toString()}`, 'stay'),
      ends: 'loaded',
      kept: VALID,
    }),
  ),
  {
    does: 'begins its answer in lower case',
    answer: raw(`http/1.1 200 ok\r\ncontent-length: ${VALID.length}\r\n\r\n${VALID.toString()}`, 'stay'),
    ends: 'lost',
    because: NO_HTTP,
  },
  {
    does: 'changes the protocol (101)',
    answer: raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'stay'),
    ends: 'lost',
    because: LOST,
  },
  {
    does: 'answers with a status of its own (999)',
    answer: whole('x', {}, 999),
    ends: 'rejected',
    because: /^the service answered 999: x$/,
  },
  { does: 'speaks HTTP/0.9', answer: raw('<html>old</html>', 'close'), ends: 'lost', because: NO_HTTP },
  { does: 'speaks another protocol', answer: raw('SSH-2.0-OpenSSH_9.6\r\n', 'stay'), ends: 'lost', because: NO_HTTP },
  {
    does: 'sends random bytes',
    answer: raw(Buffer.from([0x16, 3, 1, 0, 0xff, 0, 0x80]), 'stay'),
    ends: 'lost',
    because: NO_HTTP,
  },
  {
    does: 'puts a NUL into a header',
    answer: raw('HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 2\r\n\r\n[]', 'stay'),
    ends: 'lost',
    because: NO_HTTP,
  },
  {
    does: 'sends a header of 250 KiB',
    answer: raw(
      `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(250 * 1024)}\r\ncontent-length: ${VALID.length}\r\n\r\n${VALID.toString()}`,
      'stay',
    ),
    ends: 'loaded',
    kept: VALID,
  },
  {
    does: 'sends 20,000 header lines',
    answer: raw(
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}content-length: ${VALID.length}\r\n\r\n${VALID.toString()}`,
      'stay',
    ),
    ends: 'loaded',
    kept: VALID,
  },
  {
    does: 'sends a header of 300 KiB',
    answer: raw(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(300 * 1024)}\r\ncontent-length: 2\r\n\r\n[]`, 'stay'),
    ends: 'tooLarge',
    because: HEADERS_TOO_LARGE,
  },
  {
    does: 'sends 150,000 header lines',
    answer: raw(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(150_000)}content-length: 2\r\n\r\n[]`, 'stay'),
    ends: 'tooLarge',
    because: HEADERS_TOO_LARGE,
  },
  loads('sends headers in bytes that are no ASCII', VALID, { headers: { 'x-note': 'zo\u00eb \u00ff' } }),
  loads('names headers like the parts of a prototype', VALID, {
    headers: { __proto__x: 'a', constructor: 'b', ['__proto__']: 'c' },
  }),
];

/** Every case of these. */
export const transportCases: readonly HostileCase[] = [...resets, ...lengths, ...slowness, ...bombs, ...statuses];
