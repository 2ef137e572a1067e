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
import type { Route } from '../route.ts';
import { noSite, type Site } from '../site.ts';
import { actuatorRoutes } from './actuators.ts';
import { adminRoutes } from './admin.ts';
import { authRoutes } from './auth.ts';
import { correctionRoutes } from './corrections.ts';
import { datapointRoutes } from './datapoints.ts';
import { deviceRoutes } from './devices.ts';
import { gatewayRoutes } from './gateways.ts';
import { groupRoutes } from './groups.ts';
import { exportRoutes, mergedReadRoutes } from './merged-reads.ts';
import { type NotificationServices, notificationRoutes } from './notifications.ts';
import { ontologyRoutes } from './ontologies.ts';
import { projectRoutes } from './projects.ts';
import { retentionRoutes } from './retentions.ts';
import { sensorRoutes } from './sensors.ts';
import { bulkPushRoute } from './sensors-data.ts';
import { grantRoutes, invitationRoutes, myGrantsRoute } from './sharing.ts';
import { socialRoutes } from './socials.ts';
import { userRoutes } from './users.ts';

/** The services behind the routes of version 2. */
export interface Services extends NotificationServices {
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

/** All routes of version 2, in the order of the specification. */
export function v2Routes(
  services: Services,
  tokenLifeSeconds: number,
  site: Site = noSite,
): readonly Route[] {
  const { accounts, sharing, devices, snapshots, ingest } = services;
  return [
    ...authRoutes({ ...services, tokenLifeSeconds, site }),
    ...deviceRoutes(devices, snapshots, services.refusedPushes),
    ...sensorRoutes(devices, snapshots),
    ...actuatorRoutes(services.actuators),
    ...datapointRoutes(
      ...([ingest, services, services.summaries, services.takeLargePush] as const),
      services.refusedPushes,
    ),
    ...correctionRoutes(services.corrections),
    ...retentionRoutes(services.retentions),
    bulkPushRoute(services.ingestMany),
    ...mergedReadRoutes(services),
    ...exportRoutes(services.readMany, services.projects),
    ...grantRoutes(sharing, 'device'),
    ...gatewayRoutes(services),
    ...grantRoutes(sharing, 'gateway'),
    ...projectRoutes(services),
    ...grantRoutes(sharing, 'project'),
    ...groupRoutes(services.groups),
    ...invitationRoutes(services.invitations, site),
    ...userRoutes(
      accounts,
      services.addressProving,
      services.sessions,
      services.webhookSecretOf,
      (owner) => services.room.useOf(owner),
      services.importAccounts,
    ),
    myGrantsRoute(sharing),
    ...notificationRoutes(services),
    ...socialRoutes(services.socials),
    ...ontologyRoutes(),
    ...adminRoutes(services),
  ];
}
