import { Command } from 'commander';
import { readVersion } from '../app/version.ts';
import { type CommandEntry, defaultCommand } from './commands.ts';
import { sentencesOf } from './failure.ts';
import { leaveUnread } from './output.ts';
import { printableLines } from './printable.ts';

/**
 * Runs the command that `words` name (without node and the script). Resolves when it is done;
 * a failure becomes sentences on standard error and exit code 1.
 */
export async function runCommandLine(
  words: readonly string[],
  commands: readonly CommandEntry[],
): Promise<void> {
  process.stdout.on('error', leaveUnread);
  try {
    const program = await createProgram(words, commands);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    for (const sentence of sentencesOf(error)) {
      // Some of it may be what a service said.
      process.stderr.write(`kipimo: ${printableLines(sentence)}\n`);
    }
    process.exitCode = 1;
  }
}

/** The program with the one command that `words` name; the others are there for the help alone. */
export async function createProgram(
  words: readonly string[],
  commands: readonly CommandEntry[],
): Promise<Command> {
  const wanted = commandIn(words) ?? defaultCommand;
  const program = new Command('kipimo')
    .description('Your own sensor cloud in one process.')
    .version(readVersion())
    .showHelpAfterError('(kipimo --help tells more)');
  for (const entry of commands) {
    const command = entry.name === wanted ? await entry.load() : new Command(entry.name);
    command.summary(entry.summary);
    program.addCommand(command, { isDefault: entry.name === defaultCommand });
  }
  if (!commands.some((entry) => entry.name === wanted)) {
    program.error(`error: unknown command '${wanted}'`);
  }
  return program;
}

/** Undefined where options come first: they are those of the default command. */
function commandIn([first, second]: readonly string[]): string | undefined {
  const word = first === 'help' ? second : first;
  return word?.startsWith('-') === true ? undefined : word;
}
