/**
 * Connections without interim answers. RFC 9110 requires clients to accept any number of 1xx answers before the final
 * one. undici treats an unexpected `100 Continue` as a broken connection.
 */
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** The maximum size of the headers of one answer. Services put cookies, traces and signed addresses there. */
export const MAX_HEADER_BYTES = 256 * 2 ** 10;

/** A connector for undici whose connections drop interim answers. */
export function connectorWithoutInterim(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (to, callback) =>
    connect(to, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error) callback(error, null);
      else callback(null, withoutInterim(socket));
    });
}

/**
 * The same socket without interim answers for its reader. The pool sends one request at a time per connection, so an
 * answer begins with the first byte after a request was written.
 */
function withoutInterim<S extends Socket>(socket: S): S {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  let answer = openAnswer();
  return Object.assign(socket, {
    write: (...data: Parameters<typeof write>): boolean => {
      answer = openAnswer();
      return write(...data);
    },
    read: (size?: number): unknown => {
      const chunk: unknown = read(size);
      return Buffer.isBuffer(chunk) ? answer(chunk) : chunk;
    },
  });
}

/** A filter for one answer: takes arrived bytes and returns the bytes for the reader, or null if there are none yet. */
function openAnswer(): (arrived: Buffer) => Buffer | null {
  let state: 'status line' | 'interim head' | 'final answer' = 'status line';
  // The beginning of a status line, or of the end of a header block: a few bytes in either case.
  let held = Buffer.alloc(0);
  return (arrived) => {
    if (state === 'final answer') return arrived;
    let rest = held.length === 0 ? arrived : Buffer.concat([held, arrived]);
    for (;;) {
      if (state === 'status line') {
        const line = rest.toString('latin1', 0, STATUS_LINE);
        if (INTERIM.test(line)) state = 'interim head';
        else if (BEGINNING.test(line)) break;
        else {
          state = 'final answer';
          return rest;
        }
      }
      const end = rest.indexOf(HEAD_END);
      if (end < 0) {
        rest = rest.subarray(-(HEAD_END.length - 1));
        break;
      }
      state = 'status line';
      rest = rest.subarray(end + HEAD_END.length);
    }
    held = Buffer.from(rest);
    return null;
  };
}

const STATUS_LINE = 'HTTP/1.1 100 '.length;
const HEAD_END = '\r\n\r\n';
/** Excludes `101 Switching Protocols`, which is not an interim answer: the data after it is not HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]$/;
/** A text that more bytes could complete to an interim status line. */
const BEGINNING = /^(?:H(?:T(?:T(?:P(?:\/(?:1(?:\.(?:[01](?: (?:1\d{0,2})?)?)?)?)?)?)?)?)?)?$/;
