/** `sluice completion`: what makes a shell complete command lines. */
import { command } from '../command.ts';
import { completionScript, type Shell, SHELLS } from '../completion/scripts.ts';

export const completion = command({
  about:
    'Prints a script for the shell to load. It completes commands, flags and paths, endpoints, and the names of the config’s syncs, ' +
    'by asking the program at each press of the tab key; so it need not be printed again after an update.',
  options: {},
  positionals: { shell: { takes: 'one', choices: SHELLS, about: 'The shell.' } },
  examples: [
    { line: 'sluice completion bash > ~/.local/share/bash-completion/completions/sluice', about: 'For every bash.' },
    { line: 'sluice completion zsh > ~/.zfunc/_sluice', about: 'For every zsh that has ~/.zfunc in its fpath.' },
    { line: 'sluice completion fish > ~/.config/fish/completions/sluice.fish', about: 'For every fish.' },
  ],
  run: ({ shell }, context) => {
    context.out.write(completionScript(shell as Shell));
    return Promise.resolve(0);
  },
});
