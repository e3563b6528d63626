/** What users read of an error of the database. */
import { expect, it } from 'vitest';
import { EXIT, HeldError, TransientError } from '../../src/errors.ts';
import { toQueryError } from '../../src/warehouse/connect/query-error.ts';
import { toUserError } from '../../src/warehouse/connect/retry-transient.ts';

/** The error of work in a scope whose clean-up fails too. */
async function failingTwice(first: Error, then: Error): Promise<unknown> {
  try {
    await using opened = new AsyncDisposableStack();
    opened.defer(() => Promise.reject(then));
    throw first;
  } catch (error) {
    return error;
  }
}

it('an end of the session by transaction_timeout names the setting', () => {
  const ended = Object.assign(new Error('terminating connection due to transaction timeout'), { code: '25P04' });
  for (const error of [toUserError(ended), toQueryError(ended, {})])
    expect(error).toMatchObject({
      exitCode: 5,
      next: expect.stringContaining('Raise transaction_timeout of the role'),
    });
});

it('an error that a failing clean-up follows is the reason that the user reads', async () => {
  const lost = Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  expect(toUserError(await failingTwice(lost, new Error('not open')))).toBeInstanceOf(TransientError);
  const held = new HeldError('another run holds it', { next: 'Wait.' });
  expect(toUserError(await failingTwice(held, lost))).toMatchObject({ exitCode: EXIT.held, message: held.message });
});
