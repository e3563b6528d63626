/** `sluice completion`: prints the script that makes a shell complete command lines. */
import { command } from '../command.ts';
import { completionScript, type Shell, SHELLS } from '../completion/scripts.ts';
import { showGenerated } from '../terminal/show.ts';

export const completion = command({
  about:
    'Print a script for the shell to load. It completes commands, flags, paths, endpoints, and the names of the syncs in the config. ' +
    'It calls the program at each press of the tab key, so an update of Sluice needs no new script.',
  options: {},
  positionals: { shell: { takes: 'one', choices: SHELLS, about: 'The shell.' } },
  examples: [
    {
      line: 'sluice completion bash > ~/.local/share/bash-completion/completions/sluice',
      about: 'Install it for bash.',
    },
    { line: 'sluice completion zsh > ~/.zfunc/_sluice', about: 'Install it for zsh, with ~/.zfunc in fpath.' },
    { line: 'sluice completion fish > ~/.config/fish/completions/sluice.fish', about: 'Install it for fish.' },
  ],
  run: ({ shell }, context) => {
    const script = completionScript(shell as Shell);
    showGenerated(context, 'completion/1', { shell, script }, () => script);
    return Promise.resolve(0);
  },
});
