/** The wire between the program and a Postgres, in the hands of a test: it can be cut, shut, or lose an answer. */
import * as net from 'node:net';
import { inject, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { realEffects } from '../support/warehouse.ts';
import { select } from './rows.ts';

export interface Loss {
  /** The statement whose answer is lost once the server has done it. */
  readonly statement: RegExp;
  /** Seen on the same connection before it. */
  readonly after?: RegExp;
}

export interface Wire {
  /** The warehouse through the wire. */
  readonly warehouse: Warehouse;
  /** The server does the statement, and the connection is lost before it can reply. Returns how often that happened. */
  readonly lose: (loss: Loss, times?: number) => () => number;
  /** Ends every connection, as a restart or a pooler does. */
  readonly cut: () => void;
  /** While shut, connections are cut and none can be made. */
  readonly shut: (isShut: boolean) => void;
}

/** A wire to the server of a warehouse; it and all that goes through it end with the test. */
export async function wireTo(direct: Warehouse): Promise<Wire> {
  const [row] = await select<{ name: string }>(direct, 'select current_database() as name');
  const url = new URL(inject('postgresUrl'));
  const sockets = new Set<net.Socket>();
  let isShut = false;
  let loss: (Loss & { left: number; times: number }) | undefined;

  const server = net.createServer((client) => {
    if (isShut) {
      client.destroy();
      return;
    }
    const upstream = net.connect(Number(url.port || 5432), url.hostname);
    sockets.add(client).add(upstream);
    let isAfter = false;
    let isLosing = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
      sockets.delete(upstream);
    };
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (loss && loss.left > 0) {
        isAfter ||= loss.after === undefined || loss.after.test(text);
        if (isAfter && loss.statement.test(text)) {
          loss.left -= 1;
          loss.times += 1;
          isLosing = true;
        }
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (isLosing) end();
      else client.write(bytes);
    });
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as net.AddressInfo).port);
  through.pathname = `/${row?.name ?? ''}`;
  const warehouse = await openWarehouse({ url: new Secret(through.href), schema: direct.schema }, realEffects);
  onTestFinished(async () => {
    cut();
    server.close();
    await warehouse.close();
  });
  return {
    warehouse,
    cut,
    shut: (it) => {
      isShut = it;
      if (it) cut();
    },
    lose: (it, times = 1) => {
      const armed = { ...it, left: times, times: 0 };
      loss = armed;
      return () => armed.times;
    },
  };
}
