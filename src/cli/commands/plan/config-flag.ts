/** The flag that makes a suggested command read the same config. */
import { shellWord } from '../../terminal/shell-word.ts';

/** The words of the flag; none if the command line did not name a config. */
export const configFlag = ({ config }: { readonly config: string | undefined }): readonly string[] =>
  config === undefined ? [] : ['--config', shellWord(config)];
