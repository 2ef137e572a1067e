import {
  createCorrectedDatapoints,
  createPushedDatapoints,
} from '../../domain/datapoints/corrections/corrected-datapoints.ts';
import { createCorrectionBook } from '../../domain/datapoints/corrections/correction-book.ts';
import { createRetaining } from '../../domain/datapoints/retention/retaining.ts';
import type { MemberStore } from '../../domain/members/member-store.ts';
import { type Reporter, silentReporter } from '../../domain/reporter.ts';
import { createDamagedRows } from '../damaged-rows.ts';
import { createCorrectionStore } from '../sql/corrections.ts';
import { createCredentialStore } from '../sql/credentials.ts';
import { createDeviceStore } from '../sql/devices.ts';
import { createGatewayStore } from '../sql/gateways.ts';
import { createGrantStore } from '../sql/grants.ts';
import { createGroupStore } from '../sql/groups.ts';
import { createInstallationStore } from '../sql/installation.ts';
import { createInvitationStore } from '../sql/invitations.ts';
import { createNotificationStore } from '../sql/notifications.ts';
import { createOutboxStore } from '../sql/outbox.ts';
import { createProjectStore } from '../sql/projects.ts';
import { createRetentionStore } from '../sql/retentions.ts';
import {
  createCallTextStore,
  createFailureStore,
  createPasswordResetStore,
} from '../sql/short-lived.ts';
import { createSocialStore } from '../sql/socials.ts';
import { createUserStore } from '../sql/users.ts';
import type { Storage } from '../storage.ts';
import { retentionTables, storedDatapoints } from './datapoint-tables.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { type Link, type LinkOptions, openLink } from './link.ts';
import { createDeviceLoading } from './loading-devices.ts';
import { createLookStore } from './looks.ts';
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

/** The store by which processes that share the database know of each other; one alone has none. */
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
 * that share it. Throws UnusableStorageError when a person has to mend something.
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
  const filed = createCorrectionStore(shared);
  const corrections = createCorrectionBook(filed, await filed.reaches());
  const datapoints = createCorrectedDatapoints(pushed, corrections);
  const { forget } = corrections;
  const open = opened.move();
  return {
    users: createUserStore(shared, forget),
    credentials: createCredentialStore(shared),
    grants: createGrantStore(shared, createReachReading(reader)),
    groups: createGroupStore(shared),
    invitations: createInvitationStore(shared),
    devices: createDeviceStore(shared, {
      limits: postgresLimits,
      load: createDeviceLoading(reader),
      datapoints: storedDatapoints,
      forget,
    }),
    gateways: createGatewayStore(shared),
    projects: createProjectStore(shared),
    socials: createSocialStore(shared),
    notifications: createNotificationStore(shared),
    outbox: createOutboxStore(shared),
    datapoints,
    pushedDatapoints: createPushedDatapoints(pushed, corrections),
    corrections,
    retentions: createRetentionStore(shared, retentionTables),
    retaining: createRetaining({
      ...{ pushed, datapoints, book: corrections },
      take: pushed.takeOld,
      ...pushed.retained,
    }),
    mqttSessions: createSessionStore(context, members?.own),
    installation: createInstallationStore(shared, {
      secret: () => ensureInstallationSecret(writer),
      // Backups are the database's own affair.
      lastBackupAt: async () => undefined,
    }),
    passwordResets: createPasswordResetStore(shared),
    failures: createFailureStore(shared),
    callTexts: createCallTextStore(shared),
    ...(members !== undefined && { members, looks: createLookStore(claiming) }),
    newestReceived: pushed.newestReceived,
    // A commit of its own number: proves that a change can be made durable.
    ping: () => writer.call(async () => undefined),
    close: () => open.disposeAsync(),
  };
}
