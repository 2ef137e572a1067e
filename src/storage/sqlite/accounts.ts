import { silentReporter } from '../../domain/reporter.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { createCredentialStore } from '../sql/credentials.ts';
import { createUserStore } from '../sql/users.ts';
import type { AccountStorage } from '../storage.ts';
import { openConnection } from './connection.ts';
import { prepareForCommand } from './opening.ts';
import { createWriter, sharedContext } from './writer.ts';

/** Opens users and credentials of the data directory, and makes its database if there is none. */
export async function openAccounts(
  directory: string,
  log: Log = silentLog,
): Promise<AccountStorage> {
  const path = prepareForCommand(directory);
  // First, as nothing would end the thread of the writer if this one failed.
  const reader = openConnection(path, { role: 'read' });
  const writer = await createWriter({ path, log });
  const damaged = createDamagedRows({ log, reporter: silentReporter });
  const context = sharedContext({ reader, writer, damaged });
  return {
    // A running service notices the end of an account by itself: it asks for each credential anew.
    users: createUserStore(context, () => undefined),
    credentials: createCredentialStore(context),
    async close() {
      reader.close();
      await writer.close();
    },
  };
}
