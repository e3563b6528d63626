/** Answers about a day that had not ended when it was requested: they serve on that day, and no longer once it has ended. */
import { expect, it } from 'vitest';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { endOfDayIn } from '../../src/service/paging.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS, HOUR_MS } from './clock.ts';
import { filings } from './filings.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn } from './scene.ts';

const A_DAY = 16;

/** 16 filings a day, half of them at 9:00 and half at 17:00 in New York. The days of March are numbered from the first. */
const FILINGS = Array.from({ length: 10 * A_DAY }, (_, index) => {
  const day = `2026-03-${String(Math.floor(index / A_DAY) + 1).padStart(2, '0')}`;
  const at = Date.parse(`${day}T${index % A_DAY < A_DAY / 2 ? '14' : '22'}:00:00Z`);
  return {
    at,
    item: {
      '@type': 'SecFiling',
      accession_number: `0000-${index}`,
      file_name: 'f.htm',
      file_date: day,
      filing_type: '10-K',
      ciks: ['1'],
    },
  };
});

/** A scene at 10:00 in New York, whose filings arrive as time passes. */
async function busyScene(
  warehouse: Scene['warehouse'],
  isCut: (body: { readonly date_to: string }) => boolean = () => false,
): Promise<Scene> {
  const respond = ({ body }: RespondRequest): Responded => {
    const { date_from: from, date_to: to, count } = body as { date_from: string; date_to: string; count: number };
    if (isCut({ date_to: to })) return { status: 200, body: '<html>busy' };
    const found = FILINGS.filter(
      ({ at, item }) => at <= scene.clock.now().getTime() && item.file_date >= from && item.file_date <= to,
    );
    return { status: 200, body: JSON.stringify(found.map(({ item }) => item).slice(0, count)) };
  };
  const scene: Scene = await sceneIn(warehouse, { start: '2026-03-03T15:00:00.000Z', respond });
  return scene;
}

const perDay = async ({ warehouse }: Scene): Promise<unknown[]> =>
  (
    await select<{ n: number }>(
      warehouse,
      'select count(*)::int as n from sluice.sec_filings group by file_date order by file_date',
    )
  ).map(({ n }) => n);

const daily = filings('window: { from: 2026-03-01, lookback: 2d }\n    max_age: 7d');
const wholeTo = (to: string, name = 'filings') =>
  filings(`window: { from: 2026-03-01, to: ${to}, lookback: 2d }\n    max_age: 7d`, '{ count: 100 }').replace(
    'filings:',
    `${name}:`,
  );

anyWarehouse('an answer about a day that had not ended', (open) => {
  it('does not serve once the day has ended, so that daily runs leave no filing out', async () => {
    const scene = await busyScene(await open());
    for (let run = 0; run < 6; run += 1) {
      expect(only(await scene.sync(daily, { failOnTruncated: true }))).toMatchObject({
        exitCode: 0,
        state: 'complete',
      });
      scene.clock.advance(DAY_MS);
    }
    expect(await perDay(scene)).toEqual([16, 16, 16, 16, 16, 16, 16, 8]);
    const [mark] = await select<{ value: string }>(scene.warehouse, 'select value from sluice_ops.marks');
    expect(JSON.parse(mark?.value ?? '')).toMatchObject({ lastCompleteDay: '2026-03-07' });
  });

  it('serves on the same day, and covers a window no longer once its last day has ended', async () => {
    const scene = await busyScene(await open());
    expect(only(await scene.sync(wholeTo('2026-03-03')))).toMatchObject({ exitCode: 0, sent: 1 });
    scene.clock.advance(4 * HOUR_MS);
    expect(only(await scene.sync(wholeTo('2026-03-03')))).toMatchObject({ sent: 0 });
    expect(only(await scene.sync(wholeTo('2026-03-03', 'others')))).toMatchObject({ sent: 0, fresh: 1 });
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(wholeTo('2026-03-03')))).toMatchObject({ sent: 1, fresh: 0 });
    expect(only(await scene.sync(wholeTo('2026-03-03', 'thirds')))).toMatchObject({ sent: 0, fresh: 1 });
    expect(await perDay(scene)).toEqual([16, 16, 16]);
    // What was requested after the day serves as before.
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(wholeTo('2026-03-03')))).toMatchObject({ sent: 0 });
    expect(only(await scene.sync(wholeTo('2026-03-03', 'fourths')))).toMatchObject({ sent: 0, fresh: 1 });
  });

  it('serves on the same day only, also in a window that ends in the future', async () => {
    const scene = await busyScene(await open());
    const whole = wholeTo('2026-03-30');
    for (let run = 0; run < 4; run += 1) {
      expect(only(await scene.sync(whole))).toMatchObject({ exitCode: 0, sent: 1 });
      scene.clock.advance(HOUR_MS);
      expect(only(await scene.sync(whole))).toMatchObject({ exitCode: 0, sent: 0 });
      expect(only(await scene.sync(whole.replace('filings:', 'others:')))).toMatchObject({ sent: 0, fresh: 1 });
      scene.clock.advance(DAY_MS - HOUR_MS);
    }
    expect(await perDay(scene)).toEqual([16, 16, 16, 16, 16, 8]);
    const later = whole.replace('2026-03-01', '2026-03-20').replace('filings:', 'later:');
    expect(only(await scene.sync(later))).toMatchObject({ exitCode: 0, sent: 1 });
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(later))).toMatchObject({ exitCode: 0, sent: 0 });
  });

  it('does not serve if the day ended while the service answered', async () => {
    const scene = await busyScene(await open());
    // Ten minutes before midnight in New York.
    scene.clock.advance(13 * HOUR_MS + (5 * HOUR_MS) / 6);
    await scene.sync(wholeTo('2026-03-03'));
    await select(
      scene.warehouse,
      "update sluice_ops.answers set received_at = received_at + interval '11 minutes', took_ms = 660000",
    );
    scene.clock.advance(HOUR_MS);
    expect(only(await scene.sync(wholeTo('2026-03-03', 'others')))).toMatchObject({ sent: 1, fresh: 0 });
  });

  it('to an earlier slice, which can be read only later, moves no watermark back', async () => {
    let isCut = true;
    const scene = await busyScene(await open(), ({ date_to: to }) => isCut && to === '2026-03-03');
    const yaml = wholeTo('today')
      .replace('max_age: 7d', 'max_age: 12h\n    accept: { rejects: 100% }')
      .replace('2d', '1d')
      .replace('from: 2026-03-01', 'from: 2026-02-20');
    for (let run = 0; run < 3; run += 1) await scene.sync(yaml);
    for (const days of [1, 6]) {
      scene.clock.advance(days * DAY_MS);
      await scene.sync(yaml);
    }
    const reached = async () =>
      JSON.parse(
        (await select<{ value: string }>(scene.warehouse, 'select value from sluice_ops.marks'))[0]?.value ?? '',
      ) as object;
    expect(await reached()).toMatchObject({ reached: '2026-03-09' });
    // As after a replay by a version that can read the answer.
    isCut = false;
    await scene.sync(
      filings('', '{ count: 99, date_from: 2026-02-20, date_to: 2026-03-03 }').replace('filings:', 'readable:'),
    );
    await select(
      scene.warehouse,
      `update sluice_ops.answers as x set unreadable = false, (body, bytes, sha256, encoding) = (y.body, y.bytes, y.sha256, y.encoding)
       from sluice_ops.answers as y where y.sync = 'readable' and x.id = (select max(id) from sluice_ops.answers where unreadable)`,
    );
    scene.clock.advance(DAY_MS);
    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, fresh: 1 });
    expect(((await reached()) as { lastCompleteDay: string }).lastCompleteDay >= '2026-03-09').toBe(true);
  });
});

it('is the end of a day in each time zone, also when clocks change', () => {
  expect(endOfDayIn('America/New_York', '2026-03-07').toISOString()).toBe('2026-03-08T05:00:00.000Z');
  expect(endOfDayIn('America/New_York', '2026-03-08').toISOString()).toBe('2026-03-09T04:00:00.000Z');
  expect(endOfDayIn('Pacific/Kiritimati', '2026-03-08').toISOString()).toBe('2026-03-08T10:00:00.000Z');
  expect(endOfDayIn('Etc/GMT+12', '2026-03-08').toISOString()).toBe('2026-03-09T12:00:00.000Z');
});
