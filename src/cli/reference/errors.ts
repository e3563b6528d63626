/** Renders the reference of exit codes and error classes. */
import { CredentialError, HeldError, SchemaError, TransientError, UsageError } from '../../errors.ts';
import { exitCodes, isRetryable } from '../exit-codes.ts';
import { code, generated, markdownTable, page } from './markdown.ts';

const CLASSES = [
  { type: UsageError, about: 'The command or the config is wrong.' },
  { type: CredentialError, about: 'A credential is missing or was refused.' },
  { type: TransientError, about: 'The service or the database has a transient error.' },
  { type: HeldError, about: 'Another process holds the same sync or warehouse.' },
  { type: SchemaError, about: 'The schema of the warehouse differs from the one that this version declares.' },
] as const;

/** The contents of `docs/errors.md`. */
export function errorsPage(): string {
  return page([
    generated('Errors and exit codes'),
    'A scheduler can act on the exit code alone. Errors go to standard error. They say what was found, what is allowed, and the next step.',
    'Retry says whether a scheduler may run the same command again by itself. JSON errors contain it as `retryable` ([JSON outputs](json.md)).',
    markdownTable(
      ['Code', 'Name', 'Meaning', 'Retry', 'Next step'],
      [
        ...exitCodes.map((it) => [String(it.code), it.name, it.meaning, isRetryable(it.code) ? 'yes' : 'no', it.next]),
        [
          '128+n',
          'signal',
          'Signal n ended the run. The answers in flight were received and stored first. SIGHUP is 129, SIGINT 130, SIGTERM 143.',
          'yes',
          'Run the same command again: it continues where it stopped.',
        ],
      ],
    ),
    'If the syncs of one invocation end differently, the exit code is the first of 1, 2, 3, 8, 7, 6, 5, 4, 0 that one of them has.',
    '## Classes',
    'In the code, an error that a user can act on is a `SluiceError`. Any other error is a bug, with exit code 1.',
    markdownTable(
      ['Class', 'Code', 'Thrown when'],
      CLASSES.map(({ type, about }) => [code(type.name), String(new type('').exitCode), about]),
    ),
  ]);
}
