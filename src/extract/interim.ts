/**
 * Connections without interim answers. RFC 9110 wants clients to accept any number of 1xx answers before the final one,
 * whether they asked for them or not; undici takes an unasked `100 Continue` for a broken connection.
 */
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Headers of one answer may have so many bytes. Services put cookies, traces and signed addresses there. */
export const MAX_HEADER_BYTES = 256 * 2 ** 10;

/** A connector for undici whose connections drop the interim answers that precede each answer. */
export function connectorWithoutInterim(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (to, callback) =>
    connect(to, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error) callback(error, null);
      else callback(null, withoutInterim(socket));
    });
}

/**
 * The same socket, whose reader gets no interim answers. The pool has one request at a time on a connection, so an answer
 * begins with the first byte after a request was written.
 */
function withoutInterim<S extends Socket>(socket: S): S {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  let answer = openAnswer();
  return Object.assign(socket, {
    write: (...sent: Parameters<typeof write>): boolean => {
      answer = openAnswer();
      return write(...sent);
    },
    read: (size?: number): unknown => {
      const chunk: unknown = read(size);
      return Buffer.isBuffer(chunk) ? answer(chunk) : chunk;
    },
  });
}

/** Reads one answer: takes what arrives and returns what its reader is to see, null when that is nothing yet. */
function openAnswer(): (arrived: Buffer) => Buffer | null {
  let reads: 'status line' | 'interim head' | 'final answer' = 'status line';
  // The beginning of a status line, or what may be the beginning of a head's end: a few bytes in either case.
  let held = Buffer.alloc(0);
  return (arrived) => {
    if (reads === 'final answer') return arrived;
    let rest = held.length === 0 ? arrived : Buffer.concat([held, arrived]);
    for (;;) {
      if (reads === 'status line') {
        const line = rest.toString('latin1', 0, STATUS_LINE);
        if (INTERIM.test(line)) reads = 'interim head';
        else if (BEGINNING.test(line)) break;
        else {
          reads = 'final answer';
          return rest;
        }
      }
      const end = rest.indexOf(HEAD_END);
      if (end < 0) {
        rest = rest.subarray(-(HEAD_END.length - 1));
        break;
      }
      reads = 'status line';
      rest = rest.subarray(end + HEAD_END.length);
    }
    held = Buffer.from(rest);
    return null;
  };
}

const STATUS_LINE = 'HTTP/1.1 100 '.length;
const HEAD_END = '\r\n\r\n';
/** `101 Switching Protocols` is no interim answer: what follows it is not HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]$/;
/** What more bytes could make an interim answer. */
const BEGINNING = /^(?:H(?:T(?:T(?:P(?:\/(?:1(?:\.(?:[01](?: (?:1\d{0,2})?)?)?)?)?)?)?)?)?)?$/;
