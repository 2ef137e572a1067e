import { silentReporter } from '../../domain/reporter.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import type { AccountStorage } from '../account-storage.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { connectForCommand } from './command-opening.ts';
import { createCommandWriter } from './command-writer.ts';
import { createCredentialStore } from './credentials.ts';
import { createReader } from './reader.ts';
import { createUserStore } from './users.ts';

/**
 * Opens users and credentials of a database, for a command; a service may run on it meanwhile.
 * `makes`: an empty database gets its tables. Throws UnusableStorageError when a person has to mend
 * something.
 */
export async function openAccounts(
  url: string,
  options: { readonly makes: boolean; readonly log?: Log },
): Promise<AccountStorage> {
  const { makes, log = silentLog } = options;
  const client = await connectForCommand(url, { makes });
  const writer = createCommandWriter(client);
  const reader = createReader(url, log);
  const damaged = createDamagedRows({ log, reporter: silentReporter });
  const context = { reader, writer, damaged };
  return {
    // A running service notices the end of an account by itself: it asks for each credential anew.
    users: createUserStore({ ...context, forgetDevice: () => undefined }),
    credentials: createCredentialStore(context),
    async close() {
      await reader.close();
      await writer.close();
    },
  };
}
