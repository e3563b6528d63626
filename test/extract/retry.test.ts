/** The decision table, cell by cell, and that no loop over it runs on. */
import { readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stopReasonOf } from '../../src/errors.ts';
import type { Outcome } from '../../src/extract/outcome.ts';
import { type Attempt, type Decision, decide, retryPolicy } from '../../src/extract/retry.ts';
import { countOf } from '../support/long.ts';

const POLICY = retryPolicy(2);
const FIRST: Attempt = {
  number: 1,
  earlierAttempts: 0,
  paidRetries: 0,
  unpaidRetries: 0,
  lostInvocations: 0,
  endpointAnswered: false,
};
const half = (): number => 0.5;

const answered = (status: number, body = '', headers: Record<string, string> = {}): Outcome => ({
  kind: 'answered',
  status,
  headers,
  body: Buffer.from(body),
  receivedAt: new Date('2026-01-05T12:00:00Z'),
  tookMs: 1,
});
const after = (outcome: Outcome, attempt: Partial<Attempt> = {}): Decision =>
  decide(outcome, { ...FIRST, ...attempt }, POLICY, half);
const detail = (words: unknown): string => JSON.stringify({ detail: words });

describe('an answer', () => {
  it.each([200, 201, 202, 204, 206, 299])('of status %i is kept, whatever its body', (status) => {
    for (const body of ['[]', '', '<html>', '[{"a"', 'null'])
      expect(after(answered(status, body))).toEqual({ do: 'keep' });
  });

  it('that is kept is not looked into for a reason', () => {
    const body = new Uint8Array(8);
    body.subarray = () => {
      throw new Error('the body was read');
    };
    const outcome = (status: number) => ({ ...answered(status), body }) as Outcome;
    expect(after(outcome(200))).toEqual({ do: 'keep' });
    expect(() => after(outcome(422))).toThrow('the body was read');
  });

  it('of 412 means that the entity does not exist', () => {
    expect(after(answered(412, '[]'))).toEqual({
      do: 'missing',
      because: 'the service answered 412 and gave no reason',
    });
    expect(after(answered(412, detail('gone')))).toEqual({ do: 'missing', because: 'the service answered 412: gone' });
  });

  it.each([
    [404, 'not_found', 'input'],
    [415, 'unsupported', 'input'],
    [422, 'rejected', 'input'],
    [400, 'rejected', 'input'],
    [405, 'rejected', 'input'],
    [410, 'rejected', 'input'],
    [451, 'rejected', 'input'],
    [403, 'forbidden', 'endpoint'],
    [999, 'rejected', 'input'],
  ])('of %i is not requested again: %s, for this %s', (status, kind, scope) => {
    expect(after(answered(status, detail('because\u001b[2J of this')))).toEqual({
      do: 'fail',
      class: kind,
      scope,
      because: `the service answered ${status}: because of this`,
      next: expect.stringMatching(/\.$/),
    });
  });

  it.each([300, 301, 302, 303, 307, 308])('of %i is a redirect that is not followed', (status) => {
    expect(after(answered(status, '', { location: 'https://elsewhere.example/\u202ex' }))).toEqual({
      do: 'fail',
      class: 'redirected',
      scope: 'endpoint',
      because: `the service redirected to another address (${status}); the token was not sent there`,
      next: 'Check service.url; the service points to https://elsewhere.example/x.',
    });
  });

  it.each([
    [401, detail('Points limit exhausted, top up'), {}, 6],
    [401, '', { 'x-error': 'POINTS_LIMIT_EXHAUSTED' }, 6],
    [401, detail('Token has no points left'), {}, 6],
    [401, detail('Invalid token'), {}, 3],
    [401, detail('No access to these endpoints'), {}, 3],
    [401, '{"is_points_run_out":false}', {}, 3],
    [401, '<html>bullet points</html>', {}, 3],
    [401, '', {}, 3],
    [402, '', {}, 6],
    [402, detail('Payment required'), {}, 6],
    [402, detail('Points limit exhausted'), {}, 6],
    [402, detail('Token expired'), {}, 3],
    [402, detail('Token expired, points left'), {}, 6],
    [402, '', { 'x-error': 'invalid_api_key' }, 3],
  ])('of %i with %s %j stops with exit %i', (status, body, headers, exit) => {
    const decision = after(answered(status, body, headers));
    expect(decision).toMatchObject({
      do: 'stop',
      reason: stopReasonOf(exit),
      because: expect.stringContaining(`answered ${status}`),
    });
  });

  it.each([429, 503])('of %i is requested again as certainly unpaid, a bounded number of times', (status) => {
    expect(after(answered(status))).toEqual({
      do: 'retry',
      afterMs: 500,
      paid: false,
      because: `the service answered ${status} and gave no reason`,
    });
    expect(after(answered(status), { number: 7, paidRetries: 2, unpaidRetries: 4 })).toMatchObject({
      do: 'retry',
    });
    expect(after(answered(status), { number: 6, unpaidRetries: 5 })).toMatchObject({
      do: 'fail',
      class: 'unavailable',
      scope: 'input',
    });
  });

  it.each([408, 500, 501, 502, 504, 520, 529])(
    'of %i is requested again as perhaps paid, as often as allowed',
    (status) => {
      expect(after(answered(status))).toMatchObject({ do: 'retry', afterMs: 500, paid: true });
      expect(after(answered(status), { number: 2, paidRetries: 1 })).toMatchObject({
        do: 'retry',
        afterMs: 1000,
        paid: true,
      });
      expect(after(answered(status), { number: 3, paidRetries: 2 })).toMatchObject({
        do: 'fail',
        class: 'unavailable',
      });
      expect(decide(answered(status), FIRST, retryPolicy(0), half)).toMatchObject({ do: 'fail', class: 'unavailable' });
    },
  );

  it('of 5xx fails the input for good after three invocations in vain, and of 503 never does', () => {
    const last = { number: 3, paidRetries: 2 };
    expect(after(answered(500), { ...last, earlierAttempts: 5 })).toMatchObject({ do: 'fail', class: 'unavailable' });
    expect(after(answered(500), { ...last, earlierAttempts: 6 })).toMatchObject({
      do: 'fail',
      class: 'failing',
      scope: 'input',
    });
    // Refused attempts are none in vain.
    expect(after(answered(500), { number: 8, unpaidRetries: 5, paidRetries: 2 })).toMatchObject({
      class: 'unavailable',
    });
    expect(after(answered(503), { number: 6, unpaidRetries: 5, earlierAttempts: 60 })).toMatchObject({
      do: 'fail',
      class: 'unavailable',
    });
  });

  it.each([
    ['20', 20_500],
    ['Mon, 05 Jan 2026 12:01:00 GMT', 60_500],
    ['99999999', 300_500],
    ['soon', 500],
  ])('that says Retry-After %j is heeded: %i ms', (header, afterMs) => {
    for (const status of [429, 503, 500]) {
      expect(after(answered(status, '', { 'retry-after': header }))).toMatchObject({ do: 'retry', afterMs });
    }
  });
});

describe('no answer', () => {
  const notSent: Outcome = { kind: 'not_sent', reason: 'connection refused' };
  it('to a request that was certainly not sent leads to an unpaid retry, then stops the run', () => {
    expect(after(notSent)).toEqual({ do: 'retry', afterMs: 500, paid: false, because: 'connection refused' });
    expect(after(notSent, { number: 6, unpaidRetries: 5 })).toMatchObject({
      do: 'stop',
      reason: 'unavailable',
      because: 'the service could not be reached: connection refused',
    });
  });

  it('to a request that was perhaps bought is in doubt, with a wait while paid retries are left', () => {
    const unknown: Outcome = { kind: 'unknown', reason: 'no answer within 330 s' };
    expect(after(unknown)).toEqual({ do: 'lost', because: 'no answer within 330 s', againAfterMs: 500 });
    expect(after(unknown, { number: 3, paidRetries: 2 })).toMatchObject({ do: 'lost', againAfterMs: undefined });
    expect(after(unknown, { number: POLICY.maxAttempts })).toMatchObject({ do: 'lost', againAfterMs: undefined });
  });

  it('that was larger than is taken is not bought again', () => {
    const outcome: Outcome = {
      kind: 'unknown',
      reason: 'the answer is larger than 256 MiB',
      status: 200,
      tooLarge: true,
    };
    expect(after(outcome)).toMatchObject({ do: 'fail', class: 'too_large', scope: 'input', because: outcome.reason });
  });
});

describe('a loop over decisions', () => {
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc
      .tuple(
        fc.integer({ min: 200, max: 999 }),
        fc.string(),
        fc.dictionary(
          fc.constantFrom('retry-after', 'x-error', 'location'),
          fc.oneof(fc.string(), fc.nat().map(String)),
        ),
      )
      .map(([status, body, headers]) => answered(status, body, headers)),
    fc.constantFrom(429, 500, 503).map((status) => answered(status)),
    fc.constant<Outcome>({ kind: 'not_sent', reason: 'connection refused' }),
    fc.constant<Outcome>({ kind: 'unknown', reason: 'cut' }),
  );

  it('ends within the attempts allowed, paying no more often than allowed, and never hot', () => {
    fc.assert(
      fc.property(
        fc.array(outcome, { minLength: 40, maxLength: 40 }),
        fc.nat({ max: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (outcomes, retries, drawn) => {
          const policy = retryPolicy(retries);
          let attempt = FIRST;
          for (const came of outcomes) {
            expect(attempt.number).toBeLessThanOrEqual(policy.maxAttempts);
            const decision = decide(came, attempt, policy, () => drawn);
            const waitMs =
              decision.do === 'retry' ? decision.afterMs : decision.do === 'lost' ? decision.againAfterMs : undefined;
            if (waitMs === undefined) return;
            expect(Number.isInteger(waitMs)).toBe(true);
            expect(waitMs).toBeGreaterThanOrEqual(policy.waits.minMs);
            expect(waitMs).toBeLessThanOrEqual(policy.waits.maxRetryAfterMs + policy.waits.firstMs);
            const paid = decision.do === 'lost' || (decision.do === 'retry' && decision.paid);
            attempt = {
              ...attempt,
              number: attempt.number + 1,
              paidRetries: attempt.paidRetries + (paid ? 1 : 0),
              unpaidRetries: attempt.unpaidRetries + (paid ? 0 : 1),
            };
            expect(attempt.paidRetries).toBeLessThanOrEqual(retries);
            expect(attempt.unpaidRetries).toBeLessThanOrEqual(policy.unpaidRetries);
          }
          expect.unreachable('forty attempts and no end');
        },
      ),
      { numRuns: countOf(200, 500) },
    );
  });
});

describe('docs/retries.md', () => {
  const shown = (decision: Decision): string =>
    decision.do === 'retry' ? `retry, ${decision.paid ? 'paid' : 'unpaid'}` : decision.do;

  it('says of every status and outcome what the code decides', async () => {
    const page = await readFile(new URL('../../docs/retries.md', import.meta.url), 'utf8');
    const cells = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| /gm)].flatMap(([, outcomes, decision]) =>
      (/\d/.test(String(outcomes)) ? String(outcomes).split(', ') : [String(outcomes)]).map(
        (outcome) => [outcome, String(decision)] as const,
      ),
    );
    const said = new Map(cells);
    const wrong = Array.from({ length: 400 }, (_, index) => index + 200).filter((status) => {
      const family = Math.floor(status / 100);
      const cell = said.get(String(status)) ?? said.get(`other ${family}xx`) ?? said.get(`${family}xx`);
      return cell !== shown(after(answered(status)));
    });
    expect(wrong).toEqual([]);
    expect(said.get('not sent')).toBe(shown(after({ kind: 'not_sent', reason: '' })));
    expect(said.get('unknown')).toBe(shown(after({ kind: 'unknown', reason: '' })));
    expect(said.get('unknown, too large')).toBe(shown(after({ kind: 'unknown', reason: '', tooLarge: true })));
    expect(page).toContain(`${POLICY.unpaidRetries} times`);
  });
});
