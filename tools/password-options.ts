import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { CommandKey } from '../src/config/command-keys.ts';
import { readCommandKey } from '../src/config/environment-file.ts';
import { invalid } from '../src/domain/errors.ts';

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

export interface ChosenPassword {
  readonly password: string;
  /** Whether it is made up: then it must be shown, once. */
  readonly isGenerated: boolean;
}

/** The password given as an option, else one typed without echo, else a fresh one. */
export async function choosePassword(given: string | undefined): Promise<ChosenPassword> {
  if (given !== undefined) return { password: given, isGenerated: false };
  if (process.stdin.isTTY) {
    const first = await askSilently('Password (empty: one is generated): ');
    if (first !== '') {
      if ((await askSilently('Once more: ')) !== first) {
        throw invalid('the two passwords differ; nothing was changed');
      }
      return { password: first, isGenerated: false };
    }
  }
  return { password: generatePassword(), isGenerated: true };
}

/** The password of an account that is there, typed without echo. */
export async function askPassword(
  username: string,
  keys: { readonly password: CommandKey; readonly token: CommandKey },
): Promise<string> {
  if (process.stdin.isTTY) return askSilently(`Password of ${username}: `);
  const ways = `a file with it (--help has the option), ${keys.password}, or ${keys.token}`;
  throw invalid(`there is no terminal to ask for the password of ${username} on: give ${ways}`);
}

/** Asks for a yes; throws without a terminal to ask on. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw invalid('nobody can be asked here: give --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** A password that cannot be guessed: 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}

async function askSilently(question: string): Promise<string> {
  process.stderr.write(question);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true });
  // Ctrl-C and Ctrl-D leave without a change instead of waiting for ever.
  const left = new AbortController();
  terminal.once('SIGINT', () => left.abort());
  terminal.once('close', () => left.abort());
  try {
    return await terminal.question('', { signal: left.signal });
  } catch {
    throw invalid('no password was given; nothing was changed');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
