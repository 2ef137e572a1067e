import type { Change } from '../../domain/changes.ts';
import { silentReporter } from '../../domain/reporter.ts';
import {
  changesOfKeyRemoval,
  changesOfPassword,
  changesOfUpdate,
} from '../../domain/users/account-changes.ts';
import type { UserStore } from '../../domain/users/user.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import type { AccountStorage } from '../account-storage.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { createCredentialStore } from '../sql/credentials.ts';
import { createUserStore } from '../sql/users.ts';
import { connectForCommand } from './command-opening.ts';
import { createTellingWriter } from './command-telling.ts';
import { createCommandWriter } from './command-writer.ts';
import { createReader } from './reader.ts';
import { sharedContext } from './store-context.ts';
import type { Writer } from './writer.ts';

type Outcome = Awaited<ReturnType<UserStore['setPassword']>>;

/**
 * Opens users and credentials of a database, for a command; a service may run on it meanwhile.
 * `makes`: an empty database gets its tables. Throws UnusableStorageError when a person has to mend
 * something.
 */
export async function openAccounts(
  url: string,
  options: {
    readonly makes: boolean;
    /** The text by which a change is published to services. */
    readonly textOf: (change: Change) => string;
    readonly log?: Log;
  },
): Promise<AccountStorage> {
  const { makes, textOf, log = silentLog } = options;
  const client = await connectForCommand(url, { makes });
  const writer = createCommandWriter(client);
  const reader = createReader(url, log);
  const damaged = createDamagedRows({ log, reporter: silentReporter });
  const context = { reader, writer, damaged };
  const told = createTellingWriter({ ...context, textOf });
  const usersBy = (by: Writer) =>
    createUserStore(sharedContext({ ...context, writer: by }), () => undefined);
  const credentialsBy = (by: Writer) =>
    createCredentialStore(sharedContext({ ...context, writer: by }));
  return {
    users: {
      ...usersBy(writer),
      update(id, changes) {
        const telling = told<'updated' | 'missing'>((outcome) =>
          outcome === 'missing' ? [] : changesOfUpdate(id, changes),
        );
        return usersBy(telling).update(id, changes);
      },
      setPassword(id, passwordHash, ends) {
        const telling = told<Outcome>((outcome) => changesOfPassword(id, outcome));
        return usersBy(telling).setPassword(id, passwordHash, ends);
      },
    },
    credentials: {
      ...credentialsBy(writer),
      removeKey(userId, keyId) {
        const telling = told<'removed' | 'missing'>((outcome) =>
          outcome === 'missing' ? [] : changesOfKeyRemoval(userId, keyId),
        );
        return credentialsBy(telling).removeKey(userId, keyId);
      },
    },
    async close() {
      await reader.close();
      await writer.close();
    },
  };
}
