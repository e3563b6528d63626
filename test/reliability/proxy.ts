/** A TCP proxy that disturbs connections, in front of Postgres or any other socket server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** `up` is from the client to the server. */
export type Way = 'up' | 'down';

/** When the fault of a connection begins. */
export type Moment =
  /** After this many bytes in one direction; they are still passed on. */
  | { readonly way: Way; readonly bytes: number }
  /** When the client sends this text for the nth time; `Trouble` defines whether it is passed on. */
  | { readonly said: string; readonly nth: number };

export type Trouble =
  /** Every piece, in both directions, is delayed by this time. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The connection is closed; the text of the moment is not delivered. */
  | { readonly kind: 'cut'; readonly at: Moment }
  /** The connection is reset; the text of the moment is not delivered. */
  | { readonly kind: 'reset'; readonly at: Moment }
  /** The text is delivered, its reply is dropped, and the connection is reset. */
  | { readonly kind: 'swallow'; readonly at: Moment }
  /** Nothing passes for this long in either direction, on an open connection; then it is reset. */
  | { readonly kind: 'silence'; readonly at: Moment; readonly ms: number };

/** The fault of the nth connection, from 1; undefined for none. */
export type Script = (connection: number) => Trouble | undefined;

export interface Proxy {
  readonly port: number;
  /** Replaces the script for new connections. */
  readonly setScript: (script: Script) => void;
  /** Applies the fault to every open connection; bytes and texts count from now. */
  readonly strike: (trouble: Trouble) => void;
  /** How often each kind of fault occurred. */
  readonly befell: () => Readonly<Record<string, number>>;
  readonly close: () => Promise<void>;
}

/** A reset discards data that its receiver has not read. */
const READ_MS = 25;

const UNTROUBLED: Script = () => undefined;

/** Listens on a free loopback port and passes data on to the server at the URL. */
export async function startProxy(server: string, first: Script = UNTROUBLED): Promise<Proxy> {
  const { hostname, port } = new URL(server);
  const befell = new Map<string, number>();
  const links = new Set<Link>();
  let script = first;
  let count = 0;
  const listener = createServer((client) => {
    const link = linked(client, connect(Number(port), hostname), (kind) =>
      befell.set(kind, (befell.get(kind) ?? 0) + 1),
    );
    links.add(link);
    client.on('close', () => links.delete(link));
    count += 1;
    link.trouble(script(count));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    setScript: (other) => {
      script = other;
    },
    strike: (trouble) => links.forEach((link) => link.trouble(trouble)),
    befell: () => Object.fromEntries(befell),
    close: async () => {
      for (const link of links) link.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

interface Link {
  readonly trouble: (trouble: Trouble | undefined) => void;
  readonly destroy: () => void;
}

function linked(client: Socket, server: Socket, tell: (kind: Trouble['kind']) => void): Link {
  let trouble: Trouble | undefined;
  let passed = { up: 0, down: 0 };
  let heard = 0;
  /** The fault has begun; its kind decides what is still passed on. */
  let begun = false;
  const destroy = (): void => {
    client.destroy();
    server.destroy();
  };
  const begin = (): void => {
    if (!trouble || begun) return;
    begun = true;
    tell(trouble.kind);
    const reset = (): void => {
      client.resetAndDestroy();
      server.destroy();
    };
    if (trouble.kind === 'cut') {
      client.destroySoon();
      server.destroySoon();
    } else if (trouble.kind === 'reset') setTimeout(reset, READ_MS);
    else if (trouble.kind === 'silence') setTimeout(reset, trouble.ms);
  };

  const pass = (way: Way, piece: Buffer): void => {
    const to = way === 'up' ? server : client;
    if (begun) {
      if (trouble?.kind !== 'swallow') return;
      if (way === 'up') to.write(piece);
      else {
        client.resetAndDestroy();
        server.destroy();
      }
      return;
    }
    const at = trouble && 'at' in trouble ? trouble.at : undefined;
    if (at && 'bytes' in at && at.way === way && passed[way] + piece.length > at.bytes) {
      const rest = piece.subarray(at.bytes - passed[way]);
      to.write(piece.subarray(0, at.bytes - passed[way]));
      begin();
      if (rest.length > 0) pass(way, rest);
      return;
    }
    if (at && 'said' in at && way === 'up' && piece.includes(at.said)) {
      heard += 1;
      if (heard === at.nth) {
        begin();
        pass(way, piece);
        return;
      }
    }
    passed[way] += piece.length;
    to.write(piece);
  };

  const queue = (way: Way, from: Socket, to: Socket): void => {
    let last = Promise.resolve();
    from.on('data', (piece: Buffer) => {
      const latencyMs = trouble?.kind === 'latency' ? trouble.ms : 0;
      const waited = latencyMs === 0 ? undefined : wait(latencyMs);
      last = last.then(() => waited).then(() => pass(way, piece));
    });
    from.on('end', () => {
      last = last.then(() => {
        // Silence also hides that the other side closed the connection.
        if (!(begun && trouble?.kind === 'silence')) to.end();
      });
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      if (!(begun && trouble?.kind === 'silence')) void last.then(() => to.destroySoon());
    });
  };
  queue('up', client, server);
  queue('down', server, client);
  return {
    destroy,
    trouble: (next) => {
      if (begun) return;
      trouble = next;
      passed = { up: 0, down: 0 };
      heard = 0;
      if (next?.kind === 'latency') tell('latency');
      if (next && 'at' in next && 'bytes' in next.at && next.at.bytes === 0 && next.kind !== 'swallow') begin();
    },
  };
}
