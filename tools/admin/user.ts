import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { printable } from '../../src/cli/printable.ts';
import { invalid } from '../../src/domain/errors.ts';
import { parseNewUsername } from '../../src/domain/ids.ts';
import { limits } from '../../src/domain/limits.ts';
import { requireStrongPassword } from '../../src/domain/users/password-work.ts';
import type { User, UserStore } from '../../src/domain/users/user.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createEncodingFinder } from '../../src/lib/text-encoding.ts';
import { profileFromWire } from '../../src/wire/user.ts';
import { openProgressBar } from '../copy-progress.ts';
import {
  addPasswordOptions,
  choosePassword,
  confirm,
  givenPassword,
  type PasswordOptions,
} from '../password-options.ts';
import { printableJson } from '../printable-json.ts';
import {
  addAccount,
  allAccounts,
  replacePassword,
  requireUser,
  withAccounts,
} from './account-work.ts';
import { type DirectoryOption, knownPlaceOf, withStorage } from './data-directory.ts';
import { type ImportReport, importAccounts, parseImport } from './user-import.ts';

const absent = 'asked for, or generated and printed once';

/** `kipimo user`: accounts where the data is, also while the service runs. */
export function createUserCommand(): Command {
  const user = new Command('user').description(
    'Accounts in the data directory (KIPIMO_DATA_DIR), or in PostgreSQL (KIPIMO_DATABASE_URL); ' +
      'works while the service runs, too.',
  );
  addPasswordOptions(command(user, 'add <name>', 'Add an account.'), { absent })
    .option('--admin', 'may do everything')
    .option('--email <address>', 'e-mail address')
    .action(add);
  command(
    user,
    'import <file>',
    'Add accounts from a JSON array of {id?, username, password, admin?, …profile}. ' +
      'Given ids are kept; passwords may be weak. Exit code 1 when any entry is refused.',
  ).action(importFile);
  addPasswordOptions(
    command(user, 'passwd <name>', 'Set a password; ends all tokens of the user.'),
    { absent },
  ).action(setPassword);
  command(
    user,
    'disable <name>',
    'Lock an account; ends its tokens, keys and MQTT sessions.',
  ).action((name: string, options: DirectoryOption) => setDisabled(name, true, options));
  command(user, 'enable <name>', 'Let a disabled account log in again.').action(
    (name: string, options: DirectoryOption) => setDisabled(name, false, options),
  );
  command(user, 'admin <name>', 'Let an account do everything.')
    .option('--off', 'take that right away')
    .action(setAdmin);
  command(
    user,
    'delete <name>',
    'Delete an account with everything it owns: devices and their values, gateways, projects, ' +
      'alerts, keys. Stop the service first.',
  )
    .option('--yes', 'do not ask')
    .action(remove);
  command(user, 'list', 'List the accounts in order of creation.')
    .option('--json', 'one JSON object per line')
    .action(list);
  return user;
}

function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option(...dataDirOption);
}

async function add(
  name: string,
  options: DirectoryOption &
    PasswordOptions & { readonly admin?: boolean; readonly email?: string },
): Promise<void> {
  const profile = profileFromWire(options.email === undefined ? {} : { email: options.email });
  parseNewUsername(name);
  const { password, isGenerated } = await choosePassword(await givenPassword(options));
  requireStrongPassword(password);
  await withAccounts({ ...options, makes: true }, async ({ users }) => {
    const isAdmin = options.admin === true;
    const account = { username: name, password, isAdmin, profile };
    const user = await addAccount({ users, clock: systemClock }, account);
    print(`added ${isAdmin ? 'admin' : 'user'} ${user.username} with id ${user.id}`);
    if (isGenerated) print(`password: ${password}`);
  });
}

async function setPassword(
  name: string,
  options: DirectoryOption & PasswordOptions,
): Promise<void> {
  await withAccounts(options, async ({ users }) => {
    await requireUser(users, name);
    const { password, isGenerated } = await choosePassword(await givenPassword(options));
    const user = await replacePassword({ users }, { username: name, password });
    print(`${user.username} has a new password; tokens issued before are no longer valid`);
    if (isGenerated) print(`password: ${password}`);
  });
}

async function list(options: DirectoryOption & { readonly json?: boolean }): Promise<void> {
  await withAccounts(options, async ({ users }) => {
    const line = options.json === true ? toJson : toColumns;
    for await (const user of allAccounts(users)) print(line(user));
  });
}

async function importFile(file: string, options: DirectoryOption): Promise<void> {
  const entries = parseImport(await readTextFile(file, limits.importBytesMax));
  await withAccounts({ ...options, makes: true }, async ({ users }) => {
    const wasWithoutAdmin = (await users.countAdmins()) === 0;
    const bar = openProgressBar('users');
    const report = await importAccounts({
      entries,
      users,
      clock: systemClock,
      onProgress: (done) => bar.show(done, entries.length),
    }).finally(bar.stop);
    printReport(report);
    if (wasWithoutAdmin && (await users.countAdmins()) > 0) {
      print(
        'an admin is among them: the first start of the service makes no other one, ' +
          'and KIPIMO_ADMIN_PASSWORD is not used',
      );
    }
  });
}

async function setDisabled(name: string, isDisabled: boolean, options: DirectoryOption) {
  await withAccounts(options, async ({ users }) => {
    const user = await requireUser(users, name);
    if (isDisabled) await requireAnotherAdmin(users, user);
    await users.update(user.id, { isDisabled });
    print(
      isDisabled
        ? `${user.username} is disabled: tokens, keys and MQTT sessions have ended`
        : `${user.username} may log in again`,
    );
  });
}

async function setAdmin(name: string, options: DirectoryOption & { readonly off?: boolean }) {
  const isAdmin = options.off !== true;
  await withAccounts(options, async ({ users }) => {
    const user = await requireUser(users, name);
    if (!isAdmin) await requireAnotherAdmin(users, user);
    await users.update(user.id, { isAdmin });
    print(`${user.username} is ${isAdmin ? 'an admin now' : 'no admin any more'}`);
  });
}

async function remove(name: string, options: DirectoryOption & { readonly yes?: boolean }) {
  await withStorage(knownPlaceOf(options), async ({ users, devices }) => {
    const user = await requireUser(users, name);
    await requireAnotherAdmin(users, user);
    const owned = await devices.countOwnedBy(user.username);
    const question = `Delete ${user.username} with ${owned} devices and all their values?`;
    if (options.yes !== true && !(await confirm(question))) throw invalid('nothing was deleted');
    await users.remove(user.id);
    print(`${user.username} and everything that was its own is deleted`);
  });
}

/** Without an admin no account could manage the others. */
async function requireAnotherAdmin(users: UserStore, user: User): Promise<void> {
  if (!user.isAdmin || user.isDisabled || (await users.countAdmins()) > 1) return;
  throw invalid(`${user.username} is the last admin: make another user admin first`);
}

function printReport({ added, refused }: ImportReport): void {
  for (const { entry, username, reason } of refused) {
    const who = username === undefined ? '' : ` (${printableJson(username)})`;
    process.stderr.write(`entry ${entry}${who} refused: ${printable(reason)}\n`);
  }
  print(`added ${added}, refused ${refused.length}`);
  if (refused.length > 0) process.exitCode = 1;
}

function toJson(user: User): string {
  const { id, username, isAdmin, isDisabled, profile } = user;
  const createdTime = user.createdAt;
  return printableJson({
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
  const email = printable(user.profile.email ?? '');
  return [...columns, email].join('  ').trimEnd();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * The text of a file, in UTF-8, UTF-16 or Windows-1252. Throws invalid for one of more bytes, also
 * where it is a pipe that never ends.
 */
export async function readTextFile(file: string, bytesMax: number): Promise<string> {
  const finder = createEncodingFinder();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of createReadStream(file) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      throw invalid(`${file} has more than ${bytesMax} bytes: import it in several files`);
    }
    finder.push(piece);
    pieces.push(piece);
  }
  return new TextDecoder(finder.end()).decode(Buffer.concat(pieces));
}
