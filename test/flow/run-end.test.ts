/** How a run ends: the first rule that applies decides state, exit code and the next step. */
import { describe, expect, it } from 'vitest';
import { stopReasonOf } from '../../src/errors.ts';
import { photoshareUserPostList } from '../../src/service/endpoints/photoshare-user-posts.ts';
import { tokenRequests } from '../../src/service/endpoints/token-requests.ts';
import { endOf } from '../../src/flow/run/run-end.ts';

type Input = Parameters<typeof endOf>[0];
type Sums = Parameters<typeof endOf>[1];

const DEFINITION: Input['definition'] = {
  name: 'posts',
  endpoint: photoshareUserPostList,
  inDoubt: 'reconcile',
  acceptRejects: 0.01,
  maxAgeMs: 1000,
  window: undefined,
};
const NOTHING = { left: 0, inDoubt: 0, quarantined: 0, failed: 0, received: 0, truncated: 0 };
const READ = { requests: 0, failing: 0, items: 0 };
const COUNTED = { all: 0, rejects: 0 };
const GAP = { filters: { user: 'a' }, input: {}, answerId: '7', reason: 'no JSON', failing: false };

const end = (
  totals: Partial<Sums['totals']>,
  input: Partial<Input> = {},
  sums: Partial<Omit<Sums, 'totals'>> = {},
): ReturnType<typeof endOf> =>
  endOf(
    { definition: DEFINITION, stop: undefined, aborted: false, failOnTruncated: false, ...input },
    { unread: READ, relied: COUNTED, gaps: [], earlier: 0, ...sums, totals: { ...NOTHING, ...totals } },
  );

const stop = (exitCode: number) => ({
  reason: stopReasonOf(exitCode),
  because: 'a reason',
  next: 'a step',
  forAll: false,
});

describe('a run', () => {
  it('with nothing left, lost or rejected is complete', () => {
    expect(end({ received: 10 })).toEqual({ state: 'complete', exitCode: 0, error: null, next: null });
  });

  it('that a limit stopped is out of points, whatever else is wrong', () => {
    const stopped = end({ left: 3, inDoubt: 1, failed: 9, received: 1 }, { stop: stop(6) });
    expect(stopped).toEqual({ state: 'out_of_points', exitCode: 6, error: 'a reason', next: 'a step' });
    expect(end({ left: 3 }, { stop: stop(5) })).toMatchObject({ state: 'interrupted', exitCode: 5 });
    expect(end({ left: 3 }, { stop: stop(3) })).toMatchObject({ state: 'interrupted', exitCode: 3 });
  });

  it('with requests left is interrupted, by the signal or by the service', () => {
    expect(end({ left: 2 }, { aborted: true })).toMatchObject({ exitCode: 5, error: 'stopped by a signal' });
    expect(end({ left: 2 })).toMatchObject({
      exitCode: 5,
      error: '2 of the requests got no answer from a failing service',
    });
  });

  it('with lost answers stays open only if they are requested again', () => {
    expect(end({ inDoubt: 1 })).toMatchObject({ state: 'interrupted', exitCode: 5 });
    const definition = { ...DEFINITION, inDoubt: 'stop' as const };
    expect(end({ inDoubt: 1 }, { definition })).toMatchObject({ state: 'partial', exitCode: 5 });
  });

  it('fails by rejects only above the accepted share, of items and of inputs', () => {
    expect(end({ received: 100, quarantined: 1 })).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(end({ received: 99, failed: 1 })).toMatchObject({ state: 'partial', exitCode: 0 });
    expect(end({ received: 99, quarantined: 1 })).toMatchObject({ state: 'partial', exitCode: 4 });
    expect(end({ received: 98, quarantined: 1, failed: 1 })).toMatchObject({
      exitCode: 4,
      error: '2 of 99 items and inputs were rejected, more than accept.rejects allows',
    });
    expect(end({ failed: 1 }, {}, { relied: { all: 99, rejects: 0 } })).toMatchObject({ exitCode: 0 });
    expect(end({ failed: 1 }, {}, { relied: { all: 99, rejects: 1 } })).toMatchObject({
      exitCode: 4,
      error: '2 of 100 items and inputs were rejected, more than accept.rejects allows',
    });
  });

  it('that an error of the endpoint stopped is rejected with its reason, also without rejects', () => {
    expect(end({ left: 5 }, { stop: stop(4) })).toEqual({
      state: 'partial',
      exitCode: 4,
      error: 'a reason',
      next: 'a step',
    });
  });

  it('with failed checks keeps its state, and other reasons for its exit code come first', () => {
    const check = {
      name: 'few',
      kind: 'rows',
      severity: 'error',
      status: 'fail',
      found: 1,
      allowed: 'at least 2',
      message: '1 item',
    } as const;
    const checks = [check, { ...check, severity: 'warn' as const }, { ...check, status: 'skipped' as const }];
    const error = 'a check failed: few: 1 item; allowed: at least 2';
    expect(end({ received: 1 }, { checks })).toMatchObject({ state: 'complete', exitCode: 4, error });
    expect(end({ received: 999, failed: 1 }, { checks })).toMatchObject({ state: 'partial', exitCode: 4, error });
    expect(end({ received: 1, failed: 1 }, { checks }).error).toMatch(/accept\.rejects/);
    expect(end({ truncated: 1 }, { checks, failOnTruncated: true }).error).toMatch(/^full answers/);
    expect(end({ left: 1 }, { checks, stop: stop(6) })).toMatchObject({ exitCode: 6 });
    expect(end({}, { checks: checks.slice(1) })).toMatchObject({ state: 'complete', exitCode: 0, error: null });
    const broken = { ...check, status: 'error' as const, message: 'no such table' };
    expect(end({}, { checks: [broken, check] }).error).toBe(
      '2 checks failed: few could not run: no such table | few: 1 item; allowed: at least 2',
    );
  });

  it('with an unreadable answer names the gap, unless the sync accepts such answers', () => {
    const unread = { unread: { requests: 1, failing: 0, items: 10 }, gaps: [GAP] };
    const { exitCode, error } = end({ received: 10_000 }, {}, unread);
    expect(exitCode).toBe(4);
    expect(error).toMatch(/^the answer to 1 request could not be read: .*no JSON$/);
    const definition = { ...DEFINITION, acceptsUnreadable: true };
    expect(end({ received: 10_000 }, { definition }, unread)).toMatchObject({ state: 'partial', exitCode: 0 });
    // An unreadable answer weighs as many items as were requested.
    expect(end({ received: 500 }, { definition }, unread)).toMatchObject({ exitCode: 4 });
  });

  it('with an unreadable answer names the command that requests nothing else', () => {
    const unread = { unread: { requests: 1, failing: 0, items: 10 }, gaps: [GAP] };
    const next = (definition: Partial<Input['definition']>) =>
      end({}, { definition: { ...DEFINITION, ...definition } }, unread).next;
    expect(next({})).toMatch(/^Run the sync again: it requests only what could not be read/);
    expect(next({ maxAgeMs: undefined })).toMatch(/^sluice sync --failed posts requests only what failed or could not/);
    expect(next({ maxAgeMs: undefined, endpoint: tokenRequests })).toMatch(/^Run the sync again: it continues before/);
  });

  it('with full answers is complete, unless truncation is to fail', () => {
    expect(end({ truncated: 1 })).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(end({ truncated: 1 }, { failOnTruncated: true })).toMatchObject({ state: 'partial', exitCode: 4 });
    expect(end({}, { failOnTruncated: true }, { earlier: 2 })).toMatchObject({
      exitCode: 4,
      error: 'full answers of earlier runs, on which this run relies, that could not be split further: 2',
    });
  });
});
