/** The checker itself: it accepts a correct history and reports each kind of broken promise. */
import { describe, expect, it } from 'vitest';
import type { Facts, LeaseMove, StoredAnswer } from './facts.ts';
import { figuresOf, violationsOf } from './history.ts';

const HOUR_MS = 3_600_000;
const group = (id: number): string => ['pronet_groups', 'group', id].join('\0');
const counts = { received: 2, loaded: 1, unchanged: 0, superseded: 0, quarantined: 1 };
const answer: StoredAnswer = {
  id: '5',
  entryId: '1',
  requestKey: 'first',
  storedAtMs: 130,
  receivedAtMs: 120,
  sha256: 'aa',
  sha256OfBytes: 'aa',
  loaded: true,
  counts,
  items: 2,
  rejects: 1,
  tells: new Set([group(1001)]),
};
const lease = (atMs: number, holder: string, token: number, expiresAtMs: number): LeaseMove => ({
  atMs,
  name: 'sync:groups',
  holder,
  token,
  expiresAtMs,
});

/** A run that died with its second request in flight, and its continuation. */
const sound: Facts = {
  arrivals: [
    { number: 1, atMs: 110, endpoint: 'e', requestKey: 'first', xRequestId: 'x1', sha256: 'aa', cost: 1 },
    { number: 2, atMs: 140, endpoint: 'e', requestKey: 'second', xRequestId: 'x2', sha256: 'bb', cost: 1 },
    { number: 3, atMs: 20_010, endpoint: 'e', requestKey: 'second', xRequestId: 'x2', sha256: 'cc', cost: 1 },
  ],
  entries: [
    {
      id: '1',
      runId: '1',
      sync: 'groups',
      requestKey: 'first',
      xRequestId: 'x1',
      state: 'loaded',
      attempts: 1,
      parts: 0,
      isLogReading: false,
    },
    {
      id: '2',
      runId: '1',
      sync: 'groups',
      requestKey: 'second',
      xRequestId: 'x2',
      state: 'loaded',
      attempts: 2,
      parts: 0,
      isLogReading: false,
    },
  ],
  moves: [
    { atMs: 100, entryId: '1', from: null, to: 'planned', attempts: 0 },
    { atMs: 100, entryId: '2', from: null, to: 'planned', attempts: 0 },
    { atMs: 105, entryId: '1', from: 'planned', to: 'sent', attempts: 1 },
    { atMs: 130, entryId: '1', from: 'sent', to: 'stored', attempts: 1 },
    { atMs: 135, entryId: '1', from: 'stored', to: 'loaded', attempts: 1 },
    { atMs: 138, entryId: '2', from: 'planned', to: 'sent', attempts: 1 },
    { atMs: 20_000, entryId: '2', from: 'sent', to: 'in_doubt', attempts: 1 },
    { atMs: 20_001, entryId: '2', from: 'in_doubt', to: 'planned', attempts: 1 },
    { atMs: 20_005, entryId: '2', from: 'planned', to: 'sent', attempts: 2 },
    { atMs: 20_030, entryId: '2', from: 'sent', to: 'stored', attempts: 2 },
    { atMs: 20_040, entryId: '2', from: 'stored', to: 'loaded', attempts: 2 },
  ],
  leases: [lease(90, 'one', 1, 12_090), lease(3_090, 'one', 1, 15_090), lease(19_990, 'two', 2, 31_990)],
  soleOwner: false,
  answers: [
    answer,
    {
      ...answer,
      id: '6',
      entryId: '2',
      requestKey: 'second',
      storedAtMs: 20_030,
      receivedAtMs: 20_020,
      sha256: 'cc',
      sha256OfBytes: 'cc',
      tells: new Set([group(1002)]),
    },
  ],
  rows: [
    { row: group(1001), answerId: '5' },
    { row: group(1002), answerId: '6' },
  ],
  lostAnswers: [{ entryId: '2', attempt: 1 }],
  log: [{ path: '/e', xRequestId: 'x1', cost: 1 }],
  costs: [{ path: '/e', xRequestId: 'x1', cost: 1 }],
  maxAgeMs: { groups: HOUR_MS },
  mostLost: 1,
  differing: [],
};

const [first, second, third] = sound.arrivals as [Facts['arrivals'][0], Facts['arrivals'][0], Facts['arrivals'][0]];
const [, other] = sound.entries as [Facts['entries'][0], Facts['entries'][0]];
const withAnswer = (changed: Partial<StoredAnswer>): Partial<Facts> => ({
  answers: [{ ...answer, ...changed }, ...sound.answers.slice(1)],
});
/** A later run of the same sync that repeats the first request. */
const askedAnew = (atMs: number): Partial<Facts> => ({
  arrivals: [...sound.arrivals, { ...first, number: 4, atMs, xRequestId: 'x3', sha256: 'dd' }],
  entries: [...sound.entries, { ...other, id: '3', runId: '2', requestKey: 'first', xRequestId: 'x3', attempts: 1 }],
  moves: [
    ...sound.moves,
    { atMs: atMs - 2, entryId: '3', from: null, to: 'planned', attempts: 0 },
    { atMs: atMs - 1, entryId: '3', from: 'planned', to: 'sent', attempts: 1 },
  ],
  answers: [
    ...sound.answers,
    {
      ...answer,
      id: '7',
      entryId: '3',
      storedAtMs: atMs + 9,
      receivedAtMs: atMs + 8,
      sha256: 'dd',
      sha256OfBytes: 'dd',
    },
  ],
});

describe('a history in the checker', () => {
  it('breaks no promise if it is correct', () => {
    expect(violationsOf(sound)).toEqual([]);
    expect(figuresOf(sound)).toEqual({
      arrivals: 3,
      answers: 2,
      rows: 2,
      sentAgain: 1,
      sentAgainAfterStored: 0,
      inDoubt: 1,
      mostInDoubtAtOnce: 1,
      lastTakeOverAtMs: 19_990,
    });
  });

  it('breaks no promise if a later run repeats a request that is no longer fresh', () => {
    expect(violationsOf({ ...sound, ...askedAnew(answer.receivedAtMs + HOUR_MS + 1) })).toEqual([]);
  });

  it('breaks no promise if a question was split before it was sent', () => {
    const cut = { ...other, id: '8', xRequestId: null, state: 'skipped', parts: 2 };
    expect(violationsOf({ ...sound, entries: [...sound.entries, cut] })).toEqual([]);
    expect(violationsOf({ ...sound, entries: [...sound.entries, { ...cut, parts: 0 }] })).toEqual([
      'request 8 ended as skipped',
    ]);
  });

  it('breaks no promise if a log read was abandoned', () => {
    const reading = { ...other, id: '9', xRequestId: null, state: 'abandoned', isLogReading: true };
    expect(violationsOf({ ...sound, entries: [...sound.entries, reading] })).toEqual([]);
  });

  it('breaks no promise if a log read was sent and abandoned, as long as it is listed', () => {
    const reading = { ...other, id: '9', xRequestId: 'x9', requestKey: 'log', state: 'abandoned', isLogReading: true };
    const arrival = { ...first, number: 4, atMs: 20_050, requestKey: 'log', xRequestId: 'x9' };
    const moved = (from: string, to: string, atMs: number) => ({ entryId: '9', from, to, atMs, attempts: 1 });
    const facts = {
      ...sound,
      entries: [...sound.entries, reading],
      arrivals: [...sound.arrivals, arrival],
      moves: [...sound.moves, moved('planned', 'sent', 20_040), moved('sent', 'abandoned', 20_060)],
      mostLost: 2,
    };
    expect(violationsOf({ ...facts, lostAnswers: [...sound.lostAnswers, { entryId: '9', attempt: 1 }] })).toEqual([]);
    expect(violationsOf(facts)).toEqual(['attempt 1 at request 9 was lost and is not listed']);
  });

  it('may take over a lease at once in a warehouse that only one process can open', () => {
    const leases = [lease(90, 'one', 1, 12_090), lease(200, 'two', 2, 12_200)];
    expect(violationsOf({ ...sound, leases, soleOwner: true })).toEqual([]);
  });

  const doctored: Readonly<Record<string, readonly [Partial<Facts>, readonly string[]]>> = {
    'repeats a stored request': [
      { arrivals: [first, second, third, { ...first, number: 4, atMs: 20_050 }] },
      [
        'arrival 4: first was stored before and fresh',
        'arrival 4 is the 2. of its request, and the ledger had recorded sent 1 times',
        'request 1 reached the service 2 times, and 1 answers and losses are recorded',
      ],
    ],
    'repeats a fresh request in a later run': [askedAnew(HOUR_MS), ['arrival 4: first was stored before and fresh']],
    'sends before the ledger records it': [
      { arrivals: [{ ...first, atMs: 103 }, second, third] },
      ['arrival 1 is the 1. of its request, and the ledger had recorded sent 0 times'],
    ],
    'sends a request that the ledger does not have': [
      { arrivals: [...sound.arrivals, { ...first, number: 4, requestKey: 'third', xRequestId: 'x9' }] },
      ['arrival 4 carries an id that the ledger does not know'],
    ],
    'sends another request than its row': [
      { arrivals: [{ ...first, requestKey: 'third' }, second, third] },
      ['arrival 1 is another request than its row of the ledger'],
    ],
    'loses an attempt without listing it': [{ lostAnswers: [] }, ['attempt 1 at request 2 was lost and is not listed']],
    'lists another attempt than the lost one': [
      { lostAnswers: [{ entryId: '2', attempt: 2 }] },
      ['attempt 1 at request 2 was lost and is not listed'],
    ],
    'forgets an arrival': [
      {
        moves: sound.moves
          .map((move) => (move.to === 'in_doubt' ? { ...move, to: 'planned' } : move))
          .filter(({ from }) => from !== 'in_doubt'),
      },
      ['request 2 reached the service 2 times, and 1 answers and losses are recorded'],
    ],
    'loses more attempts than the disturbances can': [
      { mostLost: 0 },
      ['1 attempts in doubt, where at most 0 can have been lost'],
    ],
    'stores bytes with another digest than recorded': [
      withAnswer({ sha256OfBytes: 'ee' }),
      ['answer 5: its bytes have another digest than the one recorded'],
    ],
    'stores other bytes than were sent': [
      withAnswer({ sha256: 'ee', sha256OfBytes: 'ee' }),
      ['answer 5: the service sent no such bytes for it'],
    ],
    'stores the bytes of another request': [
      withAnswer({ sha256: 'bb', sha256OfBytes: 'bb' }),
      ['answer 5: the service sent no such bytes for it'],
    ],
    'stores an answer under another request': [
      withAnswer({ requestKey: 'third' }),
      ['answer 5 is stored under another request key than its request'],
    ],
    'stores an answer twice': [
      { answers: [...sound.answers, { ...answer, id: '7' }] },
      ['request 1 has more answers than it reached the service'],
    ],
    'has a row that its answer does not contain': [
      { rows: [{ row: group(1001), answerId: '6' }] },
      ['pronet_groups group 1001 names answer 6, which does not contain it'],
    ],
    'has a row of a missing answer': [
      { rows: [{ row: group(1001), answerId: '9' }] },
      ['pronet_groups group 1001 names answer 9, which does not contain it'],
    ],
    'drops an item': [
      withAnswer({ counts: { ...counts, loaded: 0 } }),
      ['answer 5: 2 received, 0 + 0 + 0 + 1 counted'],
    ],
    'counts fewer items than the bytes hold': [
      withAnswer({ items: 3 }),
      ['answer 5: 3 items in its bytes, 2 received'],
    ],
    'rejects an item without quarantining it': [
      withAnswer({ rejects: 0 }),
      ['answer 5: 1 quarantined, 0 in quarantine'],
    ],
    'never loads an answer': [withAnswer({ loaded: false }), ['answer 5 was never loaded']],
    'leaves a request open': [
      { entries: [...sound.entries.slice(0, 1), { ...other, state: 'in_doubt' }] },
      ['request 2 ended as in_doubt'],
    ],
    'takes over a lease while its holder is alive': [
      { leases: [lease(90, 'one', 1, 12_090), lease(12_089, 'two', 2, 24_000)] },
      ['sync:groups: two took it over while one was alive'],
    ],
    'gives two holders one token': [
      { leases: [lease(90, 'one', 1, 12_090), lease(13_000, 'two', 1, 25_000)] },
      ['sync:groups: one and two share token 1'],
    ],
    'lets a token decrease or skip': [
      { leases: [lease(90, 'one', 5, 95), lease(100, 'two', 4, 105), lease(20_000, 'three', 6, 32_000)] },
      [
        'sync:groups: the token decreased from 5 to 4',
        'sync:groups: the token skipped from 4 to 6, which is not the time',
      ],
    ],
    'makes a forbidden state change': [
      { moves: [...sound.moves, { atMs: 1, entryId: '1', from: 'loaded', to: 'planned', attempts: 1 }] },
      ['request 1 went from loaded to planned'],
    ],
    'has a cost that the service never logged, and lacks a logged one': [
      { costs: [{ path: '/e', xRequestId: 'x1', cost: 2 }] },
      ['the log has 1 of /e x1 at 1, the table of costs 0', 'the log has 0 of /e x1 at 2, the table of costs 1'],
    ],
    'has a cost twice': [
      { costs: [...sound.costs, ...sound.costs] },
      ['the log has 1 of /e x1 at 1, the table of costs 2'],
    ],
    'ends with other rows than an undisturbed run': [
      { differing: ['pronet_users'] },
      ['pronet_users differs from an undisturbed run'],
    ],
  };
  it.each(Object.entries(doctored))('is reported if it %s', (_, [changed, reported]) => {
    expect(violationsOf({ ...sound, ...changed })).toEqual(reported);
  });
});
