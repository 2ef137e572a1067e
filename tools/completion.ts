import { Argument, Command } from 'commander';

/** A command with the words that may follow it. */
interface Completable {
  /** From the program on: import csv. */
  readonly path: readonly string[];
  readonly words: readonly string[];
}

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** `kipimo completion`: a script for a shell, made from the commands themselves. */
export function createCompletionCommand(loadAll: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description(
      'Print what makes a shell complete the commands of kipimo and their options. bash: ' +
        'source <(kipimo completion bash); zsh: the same with zsh; fish: kipimo completion fish ' +
        '> ~/.config/fish/completions/kipimo.fish.',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .action(async (shell: Shell) => {
      process.stdout.write(completionScript(shell, await loadAll()));
    });
}

/** The script for a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const top = { path: [], words: [...commands.map((one) => one.name()), '--help', '--version'] };
  const all = [top, ...commands.flatMap((command) => completables(command, []))];
  return shell === 'fish' ? fishScript(all) : bashScript(shell, all);
}

function completables(command: Command, before: readonly string[]): readonly Completable[] {
  const path = [...before, command.name()];
  const flags = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
  const names = command.commands.map((one) => one.name());
  const words = [...names, ...flags, '--help'].filter((word) => word !== '');
  return [{ path, words }, ...command.commands.flatMap((one) => completables(one, path))];
}

function bashScript(shell: 'bash' | 'zsh', all: readonly Completable[]): string {
  const cases = all.map(
    ({ path, words }) => `    '${path.join(' ')}') words='${words.join(' ')}' ;;`,
  );
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_kipimo() {',
    '  local at path= word words=',
    `  local known=' ${all.map(({ path }) => path.join(' ')).join(' , ')} '`,
    '  for ((at = 1; at < COMP_CWORD; at++)); do',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    '    word="${path:+$path }${COMP_WORDS[at]}"',
    '    [[ $known == *" $word "* ]] && path=$word',
    '  done',
    '  case $path in',
    ...cases,
    '  esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _kipimo kipimo',
    '',
  ].join('\n');
}

function fishScript(all: readonly Completable[]): string {
  const lines = all.map(({ path, words }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const condition = path.length === 0 ? '__fish_use_subcommand' : seen;
    return `complete -c kipimo -n '${condition}' -a '${words.join(' ')}'`;
  });
  return `${lines.join('\n')}\n`;
}
