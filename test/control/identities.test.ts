/** Which names are one entity, as answers teach it: dates, handovers, names that several share, and hostile ones. */
import { expect, it } from 'vitest';
import { identitiesOf, profile, taughtIn } from '../flow/names.ts';
import { select } from '../flow/rows.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const HOUR = 3_600_000;

anyWarehouse('names in answers', (open) => {
  it('are those of one entity, with the first and the last time', async () => {
    const scene = await taughtIn(await open(), () => [profile('1', 'alice')]);
    await scene.ask('https://photos.example:443/alice?utm_source=x');

    expect(await identitiesOf(scene)).toEqual([
      'id 1 is ["1"] from 15:00 to 15:00',
      'alias alice is ["1"] from 15:00 to 15:00',
      'url https://photos.example:443/alice?utm_source=x is ["1"] from 15:00 to 15:00',
      'url photos.example/alice is ["1"] from 15:00 to 15:00',
    ]);
    scene.clock.advance(3 * HOUR);
    await scene.ask('1');
    expect(await identitiesOf(scene)).toEqual([
      'id 1 is ["1"] from 15:00 to 18:00',
      'alias alice is ["1"] from 15:00 to 18:00',
      'url https://photos.example:443/alice?utm_source=x is ["1"] from 15:00 to 15:00',
      'url photos.example/alice is ["1"] from 15:00 to 18:00',
    ]);
  });

  it('are learned from posts, and not from a single name', async () => {
    const user = { id: '1', name: 'A', alias: 'alice' };
    const post = (id: string, by: object) => ({ id, code: id, url: 'https://photos.example/p', image: 'x', user: by });
    const scene = await taughtIn(await open(), () => [post('8', user), post('9', user), post('10', { id: '2' })]);
    await scene.posts('alice');
    expect(await identitiesOf(scene)).toEqual([
      'id 1 is ["1"] from 15:00 to 15:00',
      'alias alice is ["1"] from 15:00 to 15:00',
    ]);
  });

  it('change hands, which keeps the dates of both', async () => {
    let holder = [profile('1', 'alice')];
    const scene = await taughtIn(await open(), () => holder);
    await scene.ask('alice');
    scene.clock.advance(HOUR / 2);
    holder = [profile('1', 'bob')];
    await scene.ask('1');
    scene.clock.advance(60_000);
    holder = [profile('2', 'alice')];
    await scene.ask('alice');

    expect((await identitiesOf(scene)).filter((it) => it.startsWith('alias'))).toEqual([
      'alias alice is ["1"] from 15:00 to 15:00',
      'alias alice is ["2"] from 15:31 to 15:31',
      'alias bob is ["1"] from 15:30 to 15:30',
    ]);
  });

  it('that were seen within the hour are not written again, unless their order decides', async () => {
    let holder = [profile('1', 'alice')];
    const scene = await taughtIn(await open(), () => holder);
    await scene.ask('alice');
    const before = await scene.versions();
    scene.clock.advance(HOUR);
    await scene.ask('alice');
    expect(await scene.versions()).toEqual(before);
    scene.clock.advance(1);
    await scene.ask('alice');
    expect(await scene.versions()).not.toEqual(before);

    // Renamed and back within the hour: the last of the two is the newest.
    for (const alias of ['bob', 'alice']) {
      scene.clock.advance(60_000);
      holder = [profile('1', alias)];
      await scene.ask('1');
    }
    expect((await identitiesOf(scene)).filter((it) => it.startsWith('alias'))).toEqual([
      'alias alice is ["1"] from 15:00 to 16:02',
      'alias bob is ["1"] from 16:01 to 16:01',
    ]);
  });

  it('are the same after a replay, in place and from nothing', async () => {
    let holder = [profile('1', 'alice')];
    const scene = await taughtIn(await open(), () => holder);
    await scene.ask('@alice');
    scene.clock.advance(2 * HOUR);
    holder = [profile('2', 'alice')];
    await scene.ask('@alice');
    scene.clock.advance(2 * HOUR);
    holder = [profile('1', 'bob')];
    await scene.ask('1');
    const learned = await identitiesOf(scene);
    const before = await scene.versions();

    await scene.replay();
    expect(await scene.versions()).toEqual(before);
    await scene.forget();
    await scene.replay();
    expect(await identitiesOf(scene)).toEqual(learned);
    expect(learned).toContain('alias @alice is ["2"] from 17:00 to 17:00');
  });

  it('that no entity shows belong to the entity of the answer', async () => {
    const scene = await taughtIn(await open(), () => [profile('1', 'alice')]);
    await scene.ask('Alice');
    expect(await identitiesOf(scene)).toContain('alias Alice is ["1"] from 15:00 to 15:00');
  });

  it('of any content load, and what no table can hold is left out', async () => {
    const names: readonly unknown[] = [
      'al\0ice',
      '\ud800',
      'x'.repeat(5_000_000),
      '',
      null,
      7,
      9007199254740993n,
      { a: 1 },
      ['alice'],
      `'); drop table sluice_ops.identities;--`,
      '{"\\',
      '__proto__',
      '\u0001'.repeat(640),
    ];
    const items = names.map((alias, at) => profile(`${at}\u0001`, alias));
    const scene = await taughtIn(await open(), () => [...items, profile('\u0001'.repeat(640), 'long')]);

    expect(await scene.ask('nobody')).toMatchObject({ exitCode: 0, quarantined: 0, received: names.length + 1 });
    const learned = await select<{ at: string; name: string }>(
      scene.warehouse,
      `select rtrim(entity::jsonb ->> 0, chr(1)) as at, name from sluice_ops.identities
       where kind = 'alias' and name <> 'nobody' order by rtrim(entity::jsonb ->> 0, chr(1))::int`,
    );
    const of = (at: number): unknown => (typeof names[at] === 'string' ? names[at] : String(names[at]));
    expect(learned.map(({ at, name }) => [Number(at), name])).toEqual([
      [0, 'alice'],
      [1, '\ufffd'],
      ...[5, 6, 9, 10, 11, 12].map((at) => [at, of(at)]),
    ]);
  });
});
