import type { DatabaseSync } from 'node:sqlite';
import { createCorrectionWrites } from './correction-writes.ts';
import { createCredentialWrites } from './credential-writes.ts';
import { createDeviceWrites } from './device-writes.ts';
import { createGatewayWrites } from './gateway-writes.ts';
import { createGrantWrites } from './grant-writes.ts';
import { createGroupWrites } from './group-writes.ts';
import { createInstallationWrites } from './installation-writes.ts';
import { createInvitationWrites } from './invitation-writes.ts';
import { createNotificationWrites } from './notification-writes.ts';
import { createOutboxWrites } from './outbox-writes.ts';
import { createProjectWrites } from './project-writes.ts';
import { createRetentionWrites } from './retention-writes.ts';
import { createSessionWrites } from './session-writes.ts';
import { createShortLivedWrites } from './short-lived-writes.ts';
import { createSocialWrites } from './social-writes.ts';
import { createDatapointWrites } from './timeseries/datapoint-writes.ts';
import { createRetentionStepWrites } from './timeseries/retention-steps.ts';
import { createUserWrites } from './user-writes.ts';

/**
 * Everything the writer thread can do. Each function runs inside the transaction of its group
 * commit: it throws to undo its own changes, and never begins or commits.
 */
export function createWrites(database: DatabaseSync) {
  return {
    ...createHealthWrites(database),
    ...createUserWrites(database),
    ...createCredentialWrites(database),
    ...createGrantWrites(database),
    ...createGroupWrites(database),
    ...createInvitationWrites(database),
    ...createDeviceWrites(database),
    ...createGatewayWrites(database),
    ...createProjectWrites(database),
    ...createSocialWrites(database),
    ...createNotificationWrites(database),
    ...createOutboxWrites(database),
    ...createDatapointWrites(database),
    ...createCorrectionWrites(database),
    ...createRetentionWrites(database),
    ...createRetentionStepWrites(database),
    ...createSessionWrites(database),
    ...createShortLivedWrites(database),
    ...createInstallationWrites(database),
  };
}

function createHealthWrites(database: DatabaseSync) {
  const countCheck = database.prepare('update health set checks = checks + 1 where id = 1');
  return {
    /** Proves that a change can be made durable. */
    ping(): void {
      countCheck.run();
    },
  };
}

export type Writes = ReturnType<typeof createWrites>;
export type WriteName = keyof Writes;
