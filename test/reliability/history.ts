/**
 * Checks the history of a scenario, merged from what the service received, how the ledger and the leases changed, and
 * what the tables hold. It returns every broken promise. Pure, so the same facts get the same verdict.
 */

import type { Arrival, LostAttempt, Entry, Facts, LeaseMove, Logged, Move } from './facts.ts';

/** The clocks of arrivals truncate microseconds. */
const CLOCK_MS = 1;

/** The figures of a scenario. */
export interface Figures {
  readonly arrivals: number;
  readonly answers: number;
  readonly rows: number;
  /** Requests that reached the service again because their answer was lost. */
  readonly sentAgain: number;
  readonly sentAgainAfterStored: number;
  readonly inDoubt: number;
  /** Most attempts that were found lost after one kill: between one takeover of a lease and the next. */
  readonly mostInDoubtAtOnce: number;
  /** When a lease last got another holder. */
  readonly lastTakeOverAtMs: number | undefined;
}

/** Returns a description of every broken promise; empty if all hold. */
export function violationsOf(facts: Facts): string[] {
  return [
    ...sentAgain(facts).map(({ number, requestKey }) => `arrival ${number}: ${requestKey} was stored before and fresh`),
    ...unannounced(facts),
    ...forgotten(facts),
    ...wrongBytes(facts),
    ...strangers(facts),
    ...miscounted(facts),
    ...overlaps(facts),
    ...wrongMoves(facts),
    ...unsettled(facts),
    ...tooManyLost(facts),
    ...logMismatch(facts),
    ...facts.differing.map((table) => `${table} differs from an undisturbed run`),
  ];
}

/** Returns the figures of a history. */
export function figuresOf(facts: Facts): Figures {
  const ids = facts.arrivals.map(({ xRequestId }) => xRequestId);
  return {
    arrivals: facts.arrivals.length,
    answers: facts.answers.length,
    rows: facts.rows.length,
    sentAgain: ids.length - new Set(ids).size,
    sentAgainAfterStored: sentAgain(facts).length,
    inDoubt: lostMoves(facts).length,
    mostInDoubtAtOnce: mostAtOnce(facts),
    lastTakeOverAtMs: takeOvers(facts).at(-1)?.atMs,
  };
}

/** Changes of leases that brought another holder. */
function takeOvers({ leases }: Facts): LeaseMove[] {
  const tokens = new Map<string, number>();
  return leases.filter(({ name, token }) => {
    const before = tokens.get(name);
    tokens.set(name, token);
    return before !== undefined && token > before;
  });
}

function mostAtOnce(facts: Facts): number {
  const bounds = takeOvers(facts).map(({ atMs }) => atMs);
  const found = new Map<number, number>();
  for (const { atMs } of lostMoves(facts)) {
    const after = bounds.filter((bound) => bound <= atMs).length;
    found.set(after, (found.get(after) ?? 0) + 1);
  }
  return Math.max(0, ...found.values());
}

/** Arrivals that had a stored answer: in the same run, or while it was fresh for the requesting sync. */
function sentAgain({ arrivals, answers, entries, maxAgeMs }: Facts): Arrival[] {
  const entryOf = new Map(entries.map((it) => [it.id, it]));
  const byRequest = new Map(entries.map((it) => [it.xRequestId, it]));
  const stored = grouped(answers, ({ requestKey }) => requestKey);
  return arrivals.filter((arrival) => {
    const asker = byRequest.get(arrival.xRequestId);
    return (stored.get(arrival.requestKey) ?? []).some((answer) => {
      if (arrival.atMs <= answer.storedAtMs) return false;
      const ageMs = arrival.atMs - answer.receivedAtMs;
      const sameRun = asker !== undefined && entryOf.get(answer.entryId)?.runId === asker.runId;
      return sameRun || (asker !== undefined && ageMs <= (maxAgeMs[asker.sync] ?? -1));
    });
  });
}

/** Arrivals without an earlier `sent` in the ledger. */
function unannounced({ arrivals, entries, moves }: Facts): string[] {
  const byRequest = new Map(entries.map((it) => [it.xRequestId, it]));
  const sent = grouped(
    moves.filter(({ to, attempts, from }) => to === 'sent' && (from !== 'sent' || attempts > 0)),
    ({ entryId }) => entryId,
  );
  const times = new Map<string, number>();
  return arrivals.flatMap(({ number, endpoint, xRequestId, requestKey, atMs }) => {
    const entry = byRequest.get(xRequestId);
    // A lookup in the log, to resolve a lost answer, is not a planned request, and costs nothing.
    if (!entry && endpoint === 'token.requests') return [];
    if (!entry) return [`arrival ${number} carries an id that the ledger does not know`];
    if (entry.requestKey !== requestKey) return [`arrival ${number} is another request than its row of the ledger`];
    const nth = (times.get(entry.id) ?? 0) + 1;
    times.set(entry.id, nth);
    const announced = (sent.get(entry.id) ?? []).filter((move) => move.atMs <= atMs + CLOCK_MS).length;
    return announced >= nth
      ? []
      : [`arrival ${number} is the ${nth}. of its request, and the ledger had recorded sent ${announced} times`];
  });
}

/** Changes of the ledger that treated an attempt as lost. */
const lostMoves = ({ moves }: Facts): Move[] => moves.filter(({ from, to }) => from === 'sent' && to === 'in_doubt');

/** Those, and abandoned attempts of log reads, which are never looked up. */
const lostAttempts = ({ moves }: Facts): LostAttempt[] =>
  moves
    .filter(({ from, to }) => from === 'sent' && (to === 'in_doubt' || to === 'abandoned'))
    .map(({ entryId, attempts }) => ({ entryId, attempt: attempts }));

/** Lost attempts that are not listed, and arrivals without an answer or a loss. */
function forgotten(facts: Facts): string[] {
  const listed = new Set(facts.lostAnswers.map(({ entryId, attempt }) => `${entryId}/${attempt}`));
  const lost = lostAttempts(facts);
  const arrivals = grouped(facts.arrivals, ({ xRequestId }) => xRequestId);
  const answers = grouped(facts.answers, ({ entryId }) => entryId);
  const lostOf = grouped(lost, ({ entryId }) => entryId);
  return [
    ...lost
      .filter(({ entryId, attempt }) => !listed.has(`${entryId}/${attempt}`))
      .map(({ entryId, attempt }) => `attempt ${attempt} at request ${entryId} was lost and is not listed`),
    ...facts.entries.flatMap(({ id, xRequestId }) => {
      const came = xRequestId === null ? 0 : (arrivals.get(xRequestId) ?? []).length;
      const known = (answers.get(id) ?? []).length + (lostOf.get(id) ?? []).length;
      return came <= known
        ? []
        : [`request ${id} reached the service ${came} times, and ${known} answers and losses are recorded`];
    }),
  ];
}

/** Answers whose bytes differ from what the service sent for that request. */
function wrongBytes({ answers, arrivals, entries }: Facts): string[] {
  const entryOf = new Map(entries.map((it) => [it.id, it]));
  const sent = grouped(arrivals, ({ xRequestId }) => xRequestId);
  const stored = grouped(answers, ({ entryId }) => entryId);
  return [
    ...answers.flatMap(({ id, entryId, requestKey, sha256, sha256OfBytes }) => {
      if (sha256 !== sha256OfBytes) return [`answer ${id}: its bytes have another digest than the one recorded`];
      const entry = entryOf.get(entryId);
      if (entry?.requestKey !== requestKey)
        return [`answer ${id} is stored under another request key than its request`];
      const sources = sent.get(entry.xRequestId ?? '') ?? [];
      return sources.some((it) => it.sha256 === sha256) ? [] : [`answer ${id}: the service sent no such bytes for it`];
    }),
    ...entries
      .filter(({ id, xRequestId }) => (stored.get(id) ?? []).length > (sent.get(xRequestId ?? '') ?? []).length)
      .map(({ id }) => `request ${id} has more answers than it reached the service`),
  ];
}

/** Rows that their answer does not contain. */
function strangers({ rows, answers }: Facts): string[] {
  const tells = new Map(answers.map((it) => [it.id, it.tells]));
  return rows
    .filter(({ row, answerId }) => tells.get(answerId)?.has(row) !== true)
    .map(({ row, answerId }) => `${row.replaceAll('\0', ' ')} names answer ${answerId}, which does not contain it`);
}

/** Answers whose counts do not add up. */
const miscounted = ({ answers }: Facts): string[] =>
  answers
    .filter(({ loaded }) => loaded)
    .flatMap(({ id, counts, items, rejects }) => {
      const { received, loaded, unchanged, superseded, quarantined } = counts;
      const said: string[] = [];
      if (received !== loaded + unchanged + superseded + quarantined)
        said.push(
          `answer ${id}: ${received} received, ${loaded} + ${unchanged} + ${superseded} + ${quarantined} counted`,
        );
      if (received !== items) said.push(`answer ${id}: ${items} items in its bytes, ${received} received`);
      if (quarantined !== rejects) said.push(`answer ${id}: ${quarantined} quarantined, ${rejects} in quarantine`);
      return said;
    });

/** A token is the time of its acquisition in microseconds, or one more than the token before. */
const TOKEN_WITHIN_MS = 10_000;

/** Takeovers of live leases, tokens that do not increase or are no time, and holders that share one. */
function overlaps({ leases, soleOwner }: Facts): string[] {
  const said: string[] = [];
  const last = new Map<string, LeaseMove>();
  for (const move of leases) {
    const before = last.get(move.name);
    last.set(move.name, move);
    if (!before) continue;
    // A shared run holds its sync's lease from then on, for all its workers.
    if (move.token === before.token && move.holder !== before.holder && !move.holder.startsWith('run/'))
      said.push(`${move.name}: ${before.holder} and ${move.holder} share token ${move.token}`);
    if (move.token < before.token) said.push(`${move.name}: the token decreased from ${before.token} to ${move.token}`);
    if (move.token > before.token + 1 && Math.abs(move.token / 1000 - move.atMs) > TOKEN_WITHIN_MS)
      said.push(`${move.name}: the token skipped from ${before.token} to ${move.token}, which is not the time`);
    // The same holder acquires it again if the result of its first commit was lost.
    const isOthers = move.holder !== before.holder;
    if (move.token > before.token && isOthers && before.expiresAtMs > move.atMs && !soleOwner)
      said.push(`${move.name}: ${move.holder} took it over while ${before.holder} was alive`);
  }
  return said;
}

/** The allowed changes from each state; the first entry is the start. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  '': ['planned', 'fresh'],
  planned: ['sent', 'abandoned', 'skipped', 'stored'],
  sent: ['sent', 'stored', 'in_doubt', 'planned', 'failed', 'abandoned'],
  in_doubt: ['planned', 'sent', 'stored', 'abandoned'],
  stored: ['loaded', 'empty', 'quarantined', 'missing'],
  quarantined: ['loaded', 'stored'],
  // A second answer, to an attempt that counted as lost, is stored too.
  loaded: ['stored'],
  empty: ['stored'],
  missing: ['stored'],
};

/** Forbidden state changes in the ledger. */
const wrongMoves = ({ moves }: Facts): string[] =>
  moves
    .filter(({ from, to }) => WAYS[from ?? '']?.includes(to) !== true)
    .map(({ entryId, from, to }) => `request ${entryId} went from ${from ?? 'nothing'} to ${to}`);

const FINAL = ['loaded', 'empty', 'missing', 'fresh'];

/** A skipped request is requested in parts instead. */
const hasEnded = ({ state, parts, isLogReading }: Entry): boolean =>
  isLogReading || FINAL.includes(state) || (state === 'skipped' && parts > 0);

/** Requests that did not end. */
const unsettled = ({ entries, answers }: Facts): string[] => [
  ...entries.filter((it) => !hasEnded(it)).map(({ id, state }) => `request ${id} ended as ${state}`),
  ...answers.filter(({ loaded }) => !loaded).map(({ id }) => `answer ${id} was never loaded`),
];

function tooManyLost(facts: Facts): string[] {
  const lost = lostAttempts(facts).length;
  return lost <= facts.mostLost
    ? []
    : [`${lost} attempts in doubt, where at most ${facts.mostLost} can have been lost`];
}

/** Rows of the service's log that are not in the table of costs, and vice versa. */
function logMismatch({ log, costs }: Facts): string[] {
  const count = (list: readonly Logged[]): Map<string, number> => {
    const times = new Map<string, number>();
    for (const { path, xRequestId, cost } of list) {
      const line = `${path} ${xRequestId} at ${cost}`;
      times.set(line, (times.get(line) ?? 0) + 1);
    }
    return times;
  };
  const [wanted, found] = [count(log), count(costs)];
  return [...new Set([...wanted.keys(), ...found.keys()])]
    .filter((line) => wanted.get(line) !== found.get(line))
    .map((line) => `the log has ${wanted.get(line) ?? 0} of ${line}, the table of costs ${found.get(line) ?? 0}`);
}

function grouped<T>(list: readonly T[], keyOf: (it: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const it of list) {
    const group = groups.get(keyOf(it));
    if (group) group.push(it);
    else groups.set(keyOf(it), [it]);
  }
  return groups;
}
