/** A service of photo profiles with the answers of a test, for tests of names: every request is sent anew. */
import type { RespondRequest } from '../../src/sandbox/options.ts';
import type { SyncSummary } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

export interface Taught extends Scene {
  /** Requests a profile by this name, whatever is fresh. */
  readonly ask: (user: string) => Promise<SyncSummary>;
  /** Requests the posts of a profile by this name, whatever is fresh. */
  readonly posts: (user: string) => Promise<SyncSummary>;
  /** Which version of each row of the identities there is. */
  readonly versions: () => Promise<readonly unknown[]>;
  /** Empties the identities. */
  readonly forget: () => Promise<unknown>;
}

/** A profile of that id under that alias, and its address when the alias is text. */
export const profile = (id: string, alias: unknown, more: object = {}): object => ({
  id,
  alias,
  name: 'N',
  ...(typeof alias === 'string' && { url: `https://photos.example/${alias}` }),
  ...more,
});

/** A sync of photo profiles by these names; further lines may follow. */
export const profiles = (users: readonly string[], more = '', name = 'profiles'): string =>
  asking('photoshare.user', users, `\n    ${more}`, name);

/** A sync of the posts of photo profiles by these names. */
export const postLists = (users: readonly string[], more = '', name = 'posts'): string =>
  asking('photoshare.user.posts', users, `\n    request: { count: 100 }\n    ${more}`, name);

const asking = (endpoint: string, users: readonly string[], more: string, name: string): string => `${service()}
syncs:
  ${name}:
    endpoint: ${endpoint}
    for_each: { user: ${JSON.stringify(users)} }${more}
`;

/** A scene whose service answers so, JSON with exact big integers. */
export async function taughtIn(
  warehouse: Warehouse,
  answer: (request: RespondRequest) => readonly object[] | undefined,
): Promise<Taught> {
  const scene = await sceneIn(warehouse, {
    respond: (request) => {
      const items = answer(request);
      return items && { body: jsonOf(items) };
    },
  });
  return {
    ...scene,
    ask: async (user) => only(await scene.sync(profiles([user], '', 'asked'))),
    posts: async (user) => only(await scene.sync(postLists([user], '', 'asked_posts'))),
    versions: () => select(warehouse, 'select xmin::text, ctid::text from sluice_ops.identities order by ctid'),
    forget: () => select(warehouse, 'delete from sluice_ops.identities'),
  };
}

const jsonOf = (items: readonly object[]): string =>
  JSON.stringify(items, (_, value: unknown) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value));

/** The identities as lines, in the order of kinds and names. */
export async function identitiesOf({ warehouse }: Pick<Scene, 'warehouse'>): Promise<string[]> {
  const rows = await select<{ line: string }>(
    warehouse,
    `select kind || ' ' || name || ' is ' || entity
       || ' from ' || to_char(first_seen_at at time zone 'UTC', 'HH24:MI')
       || ' to ' || to_char(last_seen_at at time zone 'UTC', 'HH24:MI') as line
     from sluice_ops.identities
     order by array_position('{id,urn,alias,url}'::text[], kind), name collate "C", entity collate "C"`,
  );
  return rows.map(({ line }) => line);
}
