import type { MemberStore } from '../../domain/members/member-store.ts';
import { type Reporter, silentReporter } from '../../domain/reporter.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { createSqlStores } from '../sql/stores.ts';
import type { Storage } from '../storage.ts';
import { retentionTables, storedDatapoints } from './datapoint-tables.ts';
import { createEvaluationStore } from './evaluations.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { type Link, type LinkOptions, openLink } from './link.ts';
import { createDeviceLoading } from './loading-devices.ts';
import { createMemberConnection } from './member-connection.ts';
import { beatingFromNow, createMemberStore } from './members.ts';
import { postgresLimits } from './postgres-limits.ts';
import { createReachReading } from './reach-reading.ts';
import { createReader } from './reader.ts';
import { createSessionStore } from './sessions.ts';
import { sharedContext } from './store-context.ts';
import { createDatapointStore } from './timeseries/datapoints.ts';
import type { HotLimits } from './timeseries/hot-limits.ts';
import { createWriter, type Writer } from './writer.ts';

export interface PostgresOptions extends LinkOptions {
  /** With the password; it is never logged. */
  readonly url: string;
  readonly reporter?: Pick<Reporter, 'rowSetAside'>;
  readonly datapointLimits?: HotLimits;
}

/** The store by which processes on one database know of each other; one alone has none. */
function createMembers(
  { url, log, serving }: PostgresOptions,
  given: { readonly link: Link; readonly writer: Writer; readonly opened: AsyncDisposableStack },
): MemberStore | undefined {
  if (serving !== 'shared') return undefined;
  const { link, writer, opened } = given;
  const connection = createMemberConnection(url, log);
  opened.defer(() => connection.close());
  const store = createMemberStore({ own: link.member, connection, writer, before: link.told });
  const [members, end] = beatingFromNow(store);
  opened.defer(end);
  return members;
}

/**
 * Opens the database for a service, with tables of the newest version: one at a time, or several
 * together. Throws UnusableStorageError when a person has to mend something.
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, log, datapointLimits } = options;
  // Undone in reverse order, whether opening fails half-way or the service ends.
  await using opened = new AsyncDisposableStack();
  const link = await openLink(options);
  const writer = createWriter(link, log);
  opened.defer(() => writer.close());
  const reader = createReader(url, log);
  opened.defer(() => reader.close());
  const damaged = createDamagedRows({ log, reporter: options.reporter ?? silentReporter });
  const members = createMembers(options, { link, writer, opened });
  const context = { reader, writer, damaged };
  const claiming = { ...context, member: link.member };
  const shared = sharedContext(claiming);
  const pushed = createDatapointStore({
    ...{ ...context, log, own: members?.own },
    ...(datapointLimits !== undefined && { limits: datapointLimits }),
  });
  opened.defer(() => pushed.close());
  await pushed.start();
  const stores = await createSqlStores(shared, {
    pushed,
    readReach: createReachReading(reader),
    devices: {
      limits: postgresLimits,
      load: createDeviceLoading(reader),
      datapoints: storedDatapoints,
    },
    retentionTables,
    installation: {
      secret: () => ensureInstallationSecret(writer),
      // Backups are the database's own affair.
      lastBackupAt: async () => undefined,
    },
  });
  const open = opened.move();
  return {
    ...stores,
    mqttSessions: createSessionStore(context, members?.own),
    ...(members !== undefined && { members, looks: createEvaluationStore(claiming) }),
    // A commit of its own number: proves that a change can be made durable.
    ping: () => writer.call(async () => undefined),
    close: () => open.disposeAsync(),
  };
}
