import type { InstallationSettings } from '../../domain/administration/installation-settings.ts';
import type { ServiceState } from '../../domain/administration/service-state.ts';
import type { Usage } from '../../domain/budgets/budgets.ts';
import type { StorageQuotas } from '../../domain/budgets/storage-quotas.ts';
import type { Corrections } from '../../domain/datapoints/corrections/corrections.ts';
import type { ReadAfter, ReadHistory } from '../../domain/datapoints/history.ts';
import type { Ingest } from '../../domain/datapoints/ingest.ts';
import type { IngestMany } from '../../domain/datapoints/ingest-many.ts';
import type { ReadLastValues } from '../../domain/datapoints/last-values.ts';
import type { ReadMany } from '../../domain/datapoints/merged-history.ts';
import type { RefusedPushes } from '../../domain/datapoints/refused-pushes.ts';
import type { Retentions } from '../../domain/datapoints/retention/retentions.ts';
import type { Snapshots } from '../../domain/datapoints/snapshots.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import type { Actuators } from '../../domain/devices/actuators.ts';
import type { Devices } from '../../domain/devices/devices.ts';
import type { MissingSensors } from '../../domain/devices/missing-sensors.ts';
import type { Gateways } from '../../domain/gateways/gateways.ts';
import type { Presence } from '../../domain/gateways/presence.ts';
import type { ImportAccounts } from '../../domain/groups/account-import.ts';
import type { Groups } from '../../domain/groups/groups.ts';
import type { Notifications } from '../../domain/notifications/notifications.ts';
import type { Preview } from '../../domain/notifications/preview.ts';
import type { TestMessages } from '../../domain/notifications/test-messages.ts';
import type { Projects } from '../../domain/projects/projects.ts';
import type { Invitations } from '../../domain/sharing/invitations.ts';
import type { Sharing } from '../../domain/sharing/sharing.ts';
import type { Socials } from '../../domain/socials/socials.ts';
import type { Accounts } from '../../domain/users/accounts.ts';
import type { AddressProving } from '../../domain/users/address-proofs.ts';
import type { FirstLogin } from '../../domain/users/first-login.ts';
import type { Logins } from '../../domain/users/logins.ts';
import type { PasswordResets } from '../../domain/users/password-resets.ts';
import type { AccessKeys, Sessions } from '../../domain/users/sessions.ts';
import type { User } from '../../domain/users/user.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TakeLargePush } from '../../wire/large-push.ts';
import type { Site } from '../site.ts';

/** The services behind the routes of version 2. */
export interface Services {
  readonly logins: Logins;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly firstLogin: FirstLogin;
  readonly passwordResets: PasswordResets;
  readonly addressProving: AddressProving;
  /** The secret that signs messages to a user's webhook. */
  readonly webhookSecretOf: (user: User) => string;
  readonly accessKeys: AccessKeys;
  readonly sharing: Sharing;
  readonly groups: Groups;
  readonly importAccounts: ImportAccounts;
  readonly invitations: Invitations;
  readonly devices: Devices;
  readonly actuators: Actuators;
  readonly gateways: Gateways;
  readonly presence: Presence;
  readonly projects: Projects;
  readonly notifications: Notifications;
  readonly preview: Preview;
  readonly testMessages: TestMessages;
  readonly socials: Socials;
  readonly snapshots: Snapshots;
  readonly ingest: Ingest;
  readonly ingestMany: IngestMany;
  readonly refusedPushes: RefusedPushes;
  readonly takeLargePush: TakeLargePush;
  readonly readHistory: ReadHistory;
  readonly readAfter: ReadAfter;
  readonly corrections: Corrections;
  readonly retentions: Retentions;
  readonly summaries: Summaries;
  readonly readMany: ReadMany;
  readonly readLastValues: ReadLastValues;
  /** For protocols that never announce their sensors. */
  readonly missingSensors: MissingSensors;
  readonly usage: Usage;
  readonly serviceState: ServiceState;
  readonly settings: InstallationSettings;
  readonly room: StorageQuotas;
  readonly clock: Clock;
}

/** The services with what routes need of the server around them. */
export interface RouteParts extends Services {
  readonly tokenLifeSeconds: number;
  readonly site: Site;
}
