import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import type { Actor } from '../../src/domain/actor.ts';
import { parseAccessKeyId } from '../../src/domain/ids.ts';
import { type AccessKeys, createAccessKeys } from '../../src/domain/users/sessions.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { accessKeyToWire, readAccessKey } from '../../src/wire/credentials.ts';
import { printableJson } from '../printable-json.ts';
import { requireUser, withAccounts } from './account-work.ts';
import type { DirectoryOption } from './data-directory.ts';

/** `kipimo key`: access keys where the data is, also while the service runs. */
export function createKeyCommand(): Command {
  const key = new Command('key').description(
    'Access keys of an account in the data directory (KIPIMO_DATA_DIR), or in PostgreSQL ' +
      '(KIPIMO_DATABASE_URL); works while the service runs, too.',
  );
  key
    .command('list <user>')
    .description('List the keys of an account, one JSON object per line, without their secrets.')
    .option(...dataDirOption)
    .action((user: string, options: DirectoryOption) =>
      withKeys(user, options, async (keys, actor) => {
        for await (const step of keys.list(actor)) {
          for (const record of step) print(accessKeyToWire(record));
        }
      }),
    );
  key
    .command('add <user> <name>')
    .description('Make a key, and print it with its secret, which is shown this once.')
    .option('--scopes <scope...>', 'what it may do; absent: all its owner may')
    .option('--devices <id...>', 'the devices it is for; absent: all of its owner')
    .option('--expires <time>', 'when it ends, ISO 8601; absent: never')
    .option(...dataDirOption)
    .action((user: string, name: string, { dataDir: at, ...limits }: DirectoryOption) =>
      withKeys(user, at === undefined ? {} : { dataDir: at }, async (keys, actor) => {
        const made = await keys.create(actor, readAccessKey({ name, ...limits }));
        print({ ...accessKeyToWire(made.record), key: made.secret });
      }),
    );
  key
    .command('remove <user> <id>')
    .description('Revoke a key; connections made with it end.')
    .option(...dataDirOption)
    .action((user: string, id: string, options: DirectoryOption) =>
      withKeys(user, options, (keys, actor) => keys.remove(actor, parseAccessKeyId(id))),
    );
  return key;
}

const withKeys = (
  username: string,
  options: DirectoryOption,
  work: (keys: AccessKeys, actor: Actor) => Promise<void>,
): Promise<void> =>
  withAccounts(options, async ({ users, credentials }) => {
    const user = await requireUser(users, username);
    const keys = createAccessKeys({ credentials, clock: systemClock });
    await work(keys, { kind: 'user', userId: user.id, username: user.username });
  });

const print = (value: unknown): void => {
  process.stdout.write(`${printableJson(value)}\n`);
};
