/** What stops a run: the first reason holds, an answer that could not be stored concerns all syncs, a bug is thrown. */
import { describe, expect, it } from 'vitest';
import { type StopReason, TransientError } from '../../src/errors.ts';
import { openStopController } from '../../src/flow/run/stop-controller.ts';

const stopFor = (because: string, reason: StopReason = 'points-reached') => ({
  reason,
  because,
  next: null,
  forAll: false,
});
const open = () => openStopController(new AbortController().signal);

describe('a stop controller', () => {
  it('continues until the signal of its caller fires, and then has no reason of its own', () => {
    const caller = new AbortController();
    const controller = openStopController(caller.signal);
    expect(controller.signal.aborted).toBe(false);
    caller.abort();
    expect(controller.signal.aborted).toBe(true);
    expect(controller.result()).toBeUndefined();
  });

  it('keeps the first reason, also when sending was stopped before it was known', () => {
    const controller = open();
    controller.stopSending();
    expect(controller.signal.aborted).toBe(true);
    controller.stopWith(stopFor('first'));
    controller.stopWith(stopFor('second'));
    expect(controller.result()).toEqual(stopFor('first'));
    expect(controller.hasFailed()).toBe(false);
  });

  it('turns an error that a person can act on into a reason, and throws a bug', () => {
    const expected = open();
    expected.fail(new TransientError('no database', { next: 'Wait.' }));
    expect(expected.result()).toEqual({ reason: 'unavailable', because: 'no database', next: 'Wait.', forAll: false });
    expect(expected.hasFailed()).toBe(true);

    const bug = open();
    bug.stopWith(stopFor('before'));
    bug.fail(new TypeError('x is undefined'));
    expect(() => bug.result()).toThrow('x is undefined');
  });

  it('stops all syncs when an answer could not be stored, but keeps a refusal as the reason', () => {
    const controller = open();
    controller.failFast();
    controller.fail(new TransientError('the first failure'));
    controller.failStore(new TransientError('3 answers are in the spool'));
    expect(controller.result()).toMatchObject({ because: '3 answers are in the spool', forAll: true });

    const refused = open();
    refused.stopWith(stopFor('the token is refused', 'access-refused'));
    refused.failStore(new TransientError('not stored'));
    expect(refused.result()).toMatchObject({ reason: 'access-refused', because: 'the token is refused' });
  });
});
