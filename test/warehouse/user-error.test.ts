/** What users read of an error of the database. */
import { expect, it } from 'vitest';
import { EXIT, HeldError, TransientError } from '../../src/errors.ts';
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

it('an error that a failing clean-up follows is the reason that the user reads', async () => {
  const lost = Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  expect(toUserError(await failingTwice(lost, new Error('not open')))).toBeInstanceOf(TransientError);
  const held = new HeldError('another run holds it', { next: 'Wait.' });
  expect(toUserError(await failingTwice(held, lost))).toMatchObject({ exitCode: EXIT.held, message: held.message });
});
