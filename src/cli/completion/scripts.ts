/**
 * The completion scripts of the shells. They contain no commands: at each press of the tab key they call `complete` of
 * the program, so they are never out of date. A line of its output is a word, a tab and the meaning of the word, or
 * `:files` or `:folders`, which makes the shell complete paths.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# Completion of sluice for bash. Load it with: source <(sluice completion bash)
_sluice() {
  local typed="\${COMP_WORDS[COMP_CWORD]}" line
  # A word that begins with = is the value of the flag before it.
  [[ $typed == '=' ]] && typed=''
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files | :folders)
        compopt -o filenames 2>/dev/null
        local kind=-f path
        [[ $line == :folders ]] && kind=-d
        while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$kind" -- "$typed")
        ;;
      ?*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _sluice sluice
`;

const ZSH = `#compdef sluice
# Completion of sluice for zsh. Load it with: source <(sluice completion zsh)
# or write it to a file named _sluice in a folder of fpath.
_sluice() {
  local line word
  local -a found
  local -i result=1
  while IFS= read -r line; do
    case "$line" in
      :files) compset -P '*='; _files && result=0 ;;
      :folders) compset -P '*='; _files -/ && result=0 ;;
      ?*)
        word="\${line%%$'\\t'*}"
        found+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
        ;;
    esac
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe -t words sluice found && result=0
  return result
}
if [[ "\${funcstack[1]}" == _sluice ]]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`;

const FISH = `# Completion of sluice for fish. Load it with: sluice completion fish | source
function __sluice_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l program $typed[1]
    set -e typed[1]
    for line in ($program complete -- $typed "$current" 2>/dev/null)
        switch $line
            case ':files' ':folders'
                set -l before (string match -r -- '^--[^=]*=' "$current")
                set -l path (string replace -r -- '^--[^=]*=' '' "$current")
                if test $line = ':files'
                    printf '%s\\n' "$before"(__fish_complete_path "$path")
                else
                    printf '%s\\n' "$before"(__fish_complete_directories "$path")
                end
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c sluice -f -a '(__sluice_complete)'
`;

/** The script for a shell. */
export const completionScript = (shell: Shell): string => ({ bash: BASH, zsh: ZSH, fish: FISH })[shell];
