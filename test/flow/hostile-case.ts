/** The notation of a hostile answer: what the service does, and the expected result. */
import type { Answer } from './hostile-server.ts';

/** The effect of a call on the ledger, the stored answers, the tables and the exit code. */
export const ENDS = {
  loaded: { state: 'loaded', exitCode: 0, calls: 1, words: 'kept and loaded' },
  empty: { state: 'empty', exitCode: 0, calls: 1, words: 'kept; an answer without items' },
  quarantined: {
    state: 'quarantined',
    exitCode: 4,
    calls: 1,
    words: 'kept; quarantined, and not asked again in this run',
  },
  lost: { state: 'in_doubt', exitCode: 5, calls: 2, words: 'asked once more, then listed as in doubt' },
  tooLarge: { state: 'failed', exitCode: 4, calls: 1, words: 'refused, and not asked again' },
  redirected: { state: 'failed', exitCode: 4, calls: 1, words: 'not followed; the endpoint is asked no more' },
  rejected: { state: 'failed', exitCode: 4, calls: 1, words: 'an input that failed; not asked again' },
  unavailable: { state: 'planned', exitCode: 5, calls: 2, words: 'asked once more, then left for the next run' },
} as const;

export interface HostileCase {
  readonly does: string;
  readonly answer: Answer;
  readonly ends: keyof typeof ENDS;
  /** What the ledger or the quarantine says of it. */
  readonly because?: RegExp;
  /** The bytes that must be stored; none if nothing is kept. */
  readonly kept?: Buffer;
  /** Real milliseconds after which the client gives up, where it has to. */
  readonly deadlineMs?: number;
  /** Columns of the row that was loaded, as text. */
  readonly row?: Readonly<Record<string, string | null>>;
}

const USER = { rest_id: '7', internal_id: 'i7', name: 'Ada', alias: 'ada', url: 'https://microblog.example/ada' };
/** An item as the contract has it. */
export const ITEM = JSON.stringify({ '@type': '@microblog_user', ...USER });
/** An answer with only that item. */
export const VALID = Buffer.from(`[${ITEM}]`);

export type Headers = Readonly<Record<string, string | number>>;

/** Status line and headers. */
export const head = (status: number, headers: Headers = {}): string =>
  `HTTP/1.1 ${status} Said\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A complete answer. */
export const whole =
  (body: Uint8Array | string, headers: Headers = {}, status = 200): Answer =>
  (socket) => {
    const bytes = Buffer.from(body as Uint8Array);
    socket.write(head(status, { 'content-length': bytes.length, ...headers }));
    socket.write(bytes);
  };

type End = 'reset' | 'close' | 'stay';

/** These bytes and then an end, or none. */
export const raw =
  (bytes: string | Buffer, end: End): Answer =>
  (socket) => {
    socket.write(bytes, () => {
      if (end === 'close') socket.end();
      // Once the bytes are with the other side: a reset would take back what is still on its way.
      if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
    });
  };

/** Why what is no JSON is rejected. */
export const NO_JSON = /^the body is (?:cut off or not valid JSON|not JSON; expected a JSON array)$/;

/** A complete answer of these bytes that loads one user. */
export const loads = (
  does: string,
  body: string | Buffer,
  more: Partial<HostileCase> & { readonly headers?: Headers } = {},
): HostileCase => {
  const { headers, ...rest } = more;
  return { does, answer: whole(body, headers), ends: 'loaded', kept: Buffer.from(body as Buffer), ...rest };
};
/** A complete answer of these bytes that cannot be read. */
export const rejects = (
  does: string,
  body: string | Buffer,
  because: RegExp = NO_JSON,
  headers: Headers = {},
): HostileCase => ({
  does,
  answer: whole(body, headers),
  ends: 'quarantined',
  because,
  kept: Buffer.from(body as Buffer),
});
