/** Errors in words, and the codes that they end with. */
import { describe, expect, it } from 'vitest';
import { failureOf, failureText } from '../../src/cli/text/failure.ts';
import { CredentialError, HeldError, SchemaError, TransientError } from '../../src/errors.ts';

const redact = (text: string): string => text.replaceAll('s3cret', '[redacted]');

describe('an error to act on', () => {
  it('ends with its own code, and says what was found and what to do', () => {
    const failure = failureOf(
      new CredentialError('the token s3cret\nwas refused', { next: 'Replace s3cret.' }),
      redact,
    );
    expect(failure).toMatchObject({ exitCode: 3, retryable: false, stack: undefined });
    expect(failureOf(new TransientError('later'), redact)).toMatchObject({ exitCode: 5, retryable: true });
    expect(failureOf(new HeldError('later'), redact)).toMatchObject({ exitCode: 7, retryable: true });
    expect(failureText(failure, true)).toBe('sluice: the token [redacted]\nwas refused\nReplace [redacted].\n');
    expect(failureText(failureOf(new SchemaError('old'), redact), false)).toBe('sluice: old\n');
  });
});

describe('a bug', () => {
  it('ends with 1, and shows its stack with every cause only on request', () => {
    const failure = failureOf(new TypeError('x is not s3cret', { cause: new Error('deep s3cret') }), redact);
    expect(failure.exitCode).toBe(1);
    const text = failureText(failure, false);
    expect(text).toBe(
      'sluice: this is a bug in Sluice: x is not [redacted]\nRun it again with --verbose, and report the stack together with the command.\n',
    );
    const stack = failureText(failure, true);
    expect(stack).toMatch(/TypeError: x is not \[redacted\]\n {4}at /);
    expect(stack).toMatch(/caused by: Error: deep \[redacted\]\n {4}at /);
    expect(stack).not.toContain('s3cret');
  });

  it('is anything else that is thrown', () => {
    expect(failureOf('text', redact).message).toBe('this is a bug in Sluice: text');
    expect(failureOf(undefined, redact)).toMatchObject({ exitCode: 1, message: 'this is a bug in Sluice: undefined' });
  });
});
