import { correctionWrites } from './corrections.ts';
import { credentialWrites } from './credentials.ts';
import { deviceWrites } from './device-writes.ts';
import type { NotificationEngine } from './firing.ts';
import { gatewayWrites } from './gateways.ts';
import { grantWrites } from './grants.ts';
import { groupWrites } from './groups.ts';
import { installationWrites } from './installation.ts';
import { invitationWrites } from './invitations.ts';
import { createNotificationWrites } from './notifications.ts';
import { createOutboxWrites } from './outbox.ts';
import { projectWrites } from './projects.ts';
import { retentionWrites } from './retentions.ts';
import type { ChangeSession } from './session.ts';
import { shortLivedWrites } from './short-lived.ts';
import { socialWrites } from './socials.ts';
import { userWrites } from './users.ts';

/** Changes of all stores that both engines use, by name. */
export const createSqlWrites = (engine: NotificationEngine) => ({
  ...correctionWrites,
  ...credentialWrites,
  ...deviceWrites,
  ...gatewayWrites,
  ...grantWrites,
  ...groupWrites,
  ...installationWrites,
  ...invitationWrites,
  ...createNotificationWrites(engine),
  ...createOutboxWrites(engine),
  ...projectWrites,
  ...retentionWrites,
  ...shortLivedWrites,
  ...socialWrites,
  ...userWrites,
});

export type SqlWrites = ReturnType<typeof createSqlWrites>;
export type SqlWriteName = keyof SqlWrites;

/** Runs a change in a session; the arguments are those of its name. */
export const runWrite = <Answer>(
  change: SqlWrites[SqlWriteName],
  session: ChangeSession,
  args: readonly unknown[],
): Promise<Answer> => Reflect.apply(change, undefined, [session, ...args]);
