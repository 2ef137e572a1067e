import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { CommandKey } from '../config/command-keys.ts';
import { readCommandKey } from '../config/environment-file.ts';
import { invalid } from '../domain/errors.ts';

/** How a password may be given to a command; none of them: it is asked for. */
export interface PasswordOptions {
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
}

const usualKey: CommandKey = 'KIPIMO_PASSWORD';

const passwordWarning = 'the password itself, for everybody on this machine to see (ps)';

/** Adds what every command has that takes a password. */
export function addPasswordOptions(
  command: Command,
  texts: { readonly absent?: string; readonly prefix?: string; readonly key?: CommandKey } = {},
): Command {
  const { absent = 'asked for', prefix = '', key = usualKey } = texts;
  return command
    .option(`--${prefix}password-file <file>`, `has the password; otherwise ${key}, or ${absent}`)
    .option(`--${prefix}password <text>`, passwordWarning);
}

/** The password from the command line (with a warning), a file or the environment, if given. */
export async function givenPassword(
  options: PasswordOptions,
  key = usualKey,
): Promise<string | undefined> {
  const { password, passwordFile } = options;
  if (password !== undefined && passwordFile !== undefined) {
    throw invalid('give --password or --password-file, not both');
  }
  if (password !== undefined) {
    process.stderr.write(
      'kipimo: --password can be seen by everybody on this machine (ps): better give ' +
        `--password-file, or ${key}, or nothing, and it is asked for\n`,
    );
    return password;
  }
  if (passwordFile === undefined) return readCommandKey(key);
  // Editors end the last line.
  return (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
}
