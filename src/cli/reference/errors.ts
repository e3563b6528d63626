/** Writes the reference of exit codes and of error classes. */
import { CredentialError, HeldError, SchemaError, TransientError, UsageError } from '../../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { code, generated, markdownTable, page } from './markdown.ts';

/** Every error class with its cause. */
const CLASSES = [
  { type: UsageError, about: 'The command or the config is wrong.' },
  { type: CredentialError, about: 'A credential is missing or was refused.' },
  { type: TransientError, about: 'The service or the database has a transient error.' },
  { type: HeldError, about: 'Another process works on the same sync or uses the same embedded warehouse.' },
  { type: SchemaError, about: 'The warehouse’s schema is not the one that this version declares.' },
] as const;

/** The content of `docs/errors.md`. */
export function errorsPage(): string {
  return page([
    generated('Errors and exit codes'),
    'The exit code is sufficient for the decisions of a scheduler. Error messages go to standard error. They say what was found, what is allowed, and the next step.',
    markdownTable(
      ['Code', 'Name', 'Means', 'What to do'],
      [
        ...exitCodes.map((it) => [String(it.code), it.name, it.meaning, it.next]),
        [
          '128+n',
          'signal',
          'Signal n ended the run after a clean drain: it waited for the sent requests and stored their answers. SIGINT is 130, SIGTERM 143.',
          'Run the same command again. It continues where it stopped.',
        ],
      ],
    ),
    'If the syncs of a command end with different codes, the exit code is the first of these that occurs: 1, 3, 8, 7, 6, 5, 4, 0.',
    '## Classes',
    'An error that a user can act on is a `SluiceError`. Any other thrown error is a bug and gives exit code 1.',
    markdownTable(
      ['Class', 'Code', 'Thrown when'],
      CLASSES.map(({ type, about }) => [code(type.name), String(new type('').exitCode), about]),
    ),
  ]);
}
