/** The reference of exit codes and of the errors that lead to them. */
import { CredentialError, HeldError, SchemaError, TransientError, UsageError } from '../../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { code, generated, markdownTable, page } from './markdown.ts';

/** Every class of error, and when it is thrown. */
const CLASSES = [
  { type: UsageError, about: 'The command or the config is wrong.' },
  { type: CredentialError, about: 'A credential is missing or was refused.' },
  { type: TransientError, about: 'There is trouble upstream or in the database that may pass.' },
  { type: HeldError, about: 'Somebody else is at work on the same thing.' },
  { type: SchemaError, about: 'The warehouse’s schema is not the one that this version knows.' },
] as const;

/** `docs/errors.md`. */
export function errorsPage(): string {
  return page([
    generated('Errors and exit codes'),
    'A scheduler can decide by the exit code alone. An error goes to standard error: what was found, what is allowed, and the next step.',
    markdownTable(
      ['Code', 'Name', 'Means', 'What to do'],
      [
        ...exitCodes.map((it) => [String(it.code), it.name, it.meaning, it.next]),
        [
          '128+n',
          'signal',
          'Signal n ended the run after a clean drain: what was asked was awaited and stored. SIGINT is 130, SIGTERM 143.',
          'Run the same command again: it goes on where it stopped.',
        ],
      ],
    ),
    'When syncs of one run end differently, the code is the first of 1, 3, 8, 7, 6, 5, 4, 0 that one of them ended with.',
    '## Classes',
    'In the code, what can be acted on is a `SluiceError`; anything else that is thrown is a bug and gives 1.',
    markdownTable(
      ['Class', 'Code', 'Thrown when'],
      CLASSES.map(({ type, about }) => [code(type.name), String(new type('').exitCode), about]),
    ),
  ]);
}
