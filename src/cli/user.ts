import { readFile, stat } from 'node:fs/promises';
import { Presets, SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { User } from '../domain/users/user.ts';
import type { UserStore } from '../domain/users/user-store.ts';
import { loadConfigHere } from '../environment-file.ts';
import { systemClock } from '../lib/clock.ts';
import { profileFromWire } from '../wire/user.ts';
import { addAccount, allAccounts, replacePassword, requireUser } from './account-work.ts';
import { choosePassword } from './password-prompt.ts';
import { type ImportReport, importAccounts, parseImport } from './user-import.ts';

interface DirectoryOption {
  readonly dataDir?: string;
}

/** `kipimo user`: accounts in the data directory, also while the service runs. */
export function createUserCommand(): Command {
  const user = new Command('user').description(
    'Accounts in the data directory (KIPIMO_DATA_DIR); works while the service runs, too.',
  );
  command(user, 'add <name>', 'Add an account.')
    .option('--admin', 'may do everything')
    .option('--email <address>', 'e-mail address')
    .option('--password <text>', 'asked for when absent, or generated and printed once')
    .action(add);
  command(
    user,
    'import <file>',
    'Add accounts from a JSON array of {id?, username, password, admin?, …profile}. ' +
      'Given ids are kept; passwords may be weak. Exit code 1 when any entry is refused.',
  ).action(importFile);
  command(user, 'passwd <name>', 'Set a password; ends all tokens of the user.')
    .option('--password <text>', 'asked for when absent, or generated and printed once')
    .action(setPassword);
  command(user, 'list', 'List the accounts in order of creation.')
    .option('--json', 'one JSON object per line')
    .action(list);
  return user;
}

function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--data-dir <path>', 'data directory, instead of KIPIMO_DATA_DIR');
}

async function add(
  name: string,
  options: DirectoryOption & {
    readonly admin?: boolean;
    readonly email?: string;
    readonly password?: string;
  },
): Promise<void> {
  const profile = profileFromWire(options.email === undefined ? {} : { email: options.email });
  await withUsers(options, async (users) => {
    const { password, isGenerated } = await choosePassword(options.password);
    const isAdmin = options.admin === true;
    const account = { username: name, password, isAdmin, profile };
    const user = await addAccount({ users, clock: systemClock }, account);
    print(`added ${isAdmin ? 'admin' : 'user'} ${user.username} with id ${user.id}`);
    if (isGenerated) print(`password: ${password}`);
  });
}

async function setPassword(
  name: string,
  options: DirectoryOption & { readonly password?: string },
): Promise<void> {
  await withUsers(options, async (users) => {
    await requireUser(users, name);
    const { password, isGenerated } = await choosePassword(options.password);
    const user = await replacePassword({ users }, { username: name, password });
    print(`${user.username} has a new password; tokens issued before are no longer valid`);
    if (isGenerated) print(`password: ${password}`);
  });
}

async function list(options: DirectoryOption & { readonly json?: boolean }): Promise<void> {
  await withUsers(options, async (users) => {
    const line = options.json === true ? toJson : toColumns;
    for await (const user of allAccounts(users)) print(line(user));
  });
}

async function importFile(file: string, options: DirectoryOption): Promise<void> {
  const { size } = await stat(file);
  if (size > limits.importBytesMax) {
    throw invalid(`${file} has ${size} bytes, at most ${limits.importBytesMax} can be imported`);
  }
  const entries = parseImport(await readFile(file, 'utf8'));
  await withUsers(options, async (users) => {
    const bar = openProgressBar(entries.length);
    const report = await importAccounts({
      entries,
      users,
      clock: systemClock,
      onProgress: (done) => bar.update(done),
    }).finally(() => bar.stop());
    printReport(report);
  });
}

async function withUsers(
  options: DirectoryOption,
  work: (users: UserStore) => Promise<void>,
): Promise<void> {
  const directory = options.dataDir ?? loadConfigHere().config.storage.directory;
  const { openAccounts } = await import('../storage/sqlite/accounts.ts');
  const accounts = await openAccounts(directory);
  try {
    await work(accounts.users);
  } finally {
    await accounts.close();
  }
}

function printReport({ added, refused }: ImportReport): void {
  for (const { entry, username, reason } of refused) {
    const who = username === undefined ? '' : ` (${JSON.stringify(username)})`;
    process.stderr.write(`entry ${entry}${who} refused: ${reason}\n`);
  }
  print(`added ${added}, refused ${refused.length}`);
  if (refused.length > 0) process.exitCode = 1;
}

function openProgressBar(total: number): { update(done: number): void; stop(): void } {
  if (!process.stderr.isTTY) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({ format: '{bar} {value}/{total} users' }, Presets.shades_classic);
  bar.start(total, 0);
  return bar;
}

function toJson(user: User): string {
  const { id, username, isAdmin, isDisabled, profile } = user;
  const createdTime = user.createdAt;
  return JSON.stringify({
    id,
    username,
    admin: isAdmin,
    disabled: isDisabled,
    createdTime,
    profile,
  });
}

function toColumns(user: User): string {
  const kind = user.isDisabled ? 'disabled' : user.isAdmin ? 'admin' : 'user';
  const created = new Date(user.createdAt).toISOString();
  const columns = [user.username.padEnd(24), kind.padEnd(8), created, user.id];
  // Anybody may sign up with any e-mail text: control characters must not reach the terminal.
  const email = (user.profile.email ?? '').replace(/\p{C}/gu, '?');
  return [...columns, email].join('  ').trimEnd();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
