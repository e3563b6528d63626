/** Lends a worker's embedded databases to its tests, each to one at a time and in the state of the migrated template. */
import type { PGlite } from '@electric-sql/pglite';
import { openPGlite } from './embedded-database.ts';
import { embeddedTemplate } from './templates.ts';
import { restorerOf, type Restore } from './restoring.ts';

/** A database that only its borrower uses. The borrower may close it; then it is not lent again. */
export interface Loan {
  readonly pglite: PGlite;
  /** Takes it away: from then on every use by its borrower throws. A second call does nothing. */
  readonly giveBack: () => Promise<void>;
}

interface Database {
  readonly pglite: PGlite;
  readonly restore: Restore;
}

const returned: Database[] = [];
/** Each takes about 200 MB, and few tests use more than two at once. */
const KEPT = 3;

/** A migrated database as its template is: one that was given back and restored, or another. */
export async function borrow(): Promise<Loan> {
  const database = (await restored()) ?? (await open());
  const { handle, isIdle, revoke } = handleOf(database.pglite);
  let isOut = true;
  return {
    pglite: handle,
    giveBack: async () => {
      revoke();
      // A running statement keeps it.
      if (!isOut || database.pglite.closed || !isIdle()) return;
      isOut = false;
      if (returned.length < KEPT) returned.push(database);
      else await database.pglite.close();
    },
  };
}

async function restored(): Promise<Database | undefined> {
  for (let database = returned.pop(); database; database = returned.pop()) {
    if (await database.restore()) return database;
    await database.pglite.close();
  }
  return undefined;
}

async function open(): Promise<Database> {
  const pglite = await openPGlite(await embeddedTemplate(true));
  return { pglite, restore: await restorerOf(pglite) };
}

/** The database until it is revoked, and whether no statement is running and no transaction open. */
function handleOf(pglite: PGlite): { handle: PGlite; isIdle: () => boolean; revoke: () => void } {
  let underWay = 0;
  const end = (): void => void underWay--;
  const { proxy, revoke } = Proxy.revocable(pglite, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, given);
        if (answer instanceof Promise) {
          underWay++;
          answer.then(end, end);
        }
        return answer;
      };
    },
  });
  return { handle: proxy, isIdle: () => underWay === 0 && !pglite.isInTransaction(), revoke };
}
