/** The flags of commands that other commands suggest. */
import { shellWord } from '../../terminal/shell-word.ts';

/** The words of the flag that makes a command read the same config; none if the command line did not name one. */
export const configFlag = ({ config }: { readonly config: string | undefined }): readonly string[] =>
  config === undefined ? [] : ['--config', shellWord(config)];

/** The flags that decide which requests a sync sends, besides the names of syncs. */
const PLANNING_FLAGS = ['refresh', 'failed', 'from', 'to', 'limit'];

/** Those that the command line sets, each as the words to write. */
export const planningFlags = (values: Readonly<Record<string, unknown>>): readonly (readonly [string, ...string[]])[] =>
  PLANNING_FLAGS.filter((name) => values[name] !== undefined && values[name] !== false).map((name) =>
    values[name] === true ? [`--${name}`] : [`--${name}`, String(values[name])],
  );
