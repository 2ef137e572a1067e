import type { GrantStore } from '../domain/access/grant.ts';
import type { CorrectionBook } from '../domain/datapoints/corrections/correction-book.ts';
import type { DatapointStore } from '../domain/datapoints/datapoint-store.ts';
import type { Retaining } from '../domain/datapoints/retention/retaining.ts';
import type { RetentionStore } from '../domain/datapoints/retention/retention.ts';
import type { DeviceStore } from '../domain/devices/device.ts';
import type { GatewayStore } from '../domain/gateways/gateways.ts';
import type { GroupStore } from '../domain/groups/groups.ts';
import type { InstallationStore } from '../domain/installation-store.ts';
import type { MemberStore } from '../domain/members/member-store.ts';
import type { SessionStore } from '../domain/messaging/session-store.ts';
import type { ThreadMemory } from '../domain/metrics.ts';
import type { CallTextStore } from '../domain/notifications/channel.ts';
import type { OutboxStore } from '../domain/notifications/delivery.ts';
import type {
  EvaluationStore,
  NotificationStore,
} from '../domain/notifications/notification-store.ts';
import type { ProjectStore } from '../domain/projects/projects.ts';
import type { InvitationStore } from '../domain/sharing/invitations.ts';
import type { SocialStore } from '../domain/socials/socials.ts';
import type { CredentialStore } from '../domain/users/credential-store.ts';
import type { FailureStore } from '../domain/users/failure-limiters.ts';
import type { PasswordResetStore } from '../domain/users/password-resets.ts';
import type { UserStore } from '../domain/users/user.ts';
import type { Instant } from '../lib/clock.ts';

/** An engine: all stores over the same data. Every method of every store is one atomic step. */
export interface Storage {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  readonly grants: GrantStore;
  readonly groups: GroupStore;
  readonly invitations: InvitationStore;
  readonly devices: DeviceStore;
  readonly gateways: GatewayStore;
  readonly projects: ProjectStore;
  readonly socials: SocialStore;
  readonly notifications: NotificationStore;
  readonly outbox: OutboxStore;
  /** As their corrections show them. */
  readonly datapoints: DatapointStore;
  /** The same as they were pushed; reads of them say which correction touched them. */
  readonly pushedDatapoints: DatapointStore;
  readonly corrections: CorrectionBook;
  /** How long datapoints are kept. */
  readonly retentions: RetentionStore;
  /** The store that takes datapoints when they are too old. */
  readonly retaining: Retaining;
  readonly mqttSessions: SessionStore;
  readonly installation: InstallationStore;
  readonly passwordResets: PasswordResetStore;
  readonly failures: FailureStore;
  readonly callTexts: CallTextStore;
  /** The processes that serve the same data; absent where this one does alone. */
  readonly members?: MemberStore;
  /** Evaluations of rules, in one order over these processes; there where they are. */
  readonly looks?: EvaluationStore;
  /** When the last datapoint was received, of those up to `atMost`; undefined: there is none. */
  newestReceived(atMost: Instant): Promise<Instant | undefined>;
  /** Throws when the engine cannot answer; for GET /readyz. */
  ping(): Promise<void>;
  /** Memory of the engine's own thread; undefined when it has ended. Absent: it has none. */
  threadMemory?(): Promise<ThreadMemory | undefined>;
  /** Resolves when everything accepted is durable and every file is closed. */
  close(): Promise<void>;
}

/** The accounts of an installation, for commands; a service may run on it meanwhile. */
export interface AccountStorage {
  readonly users: UserStore;
  readonly credentials: CredentialStore;
  close(): Promise<void>;
}

/** Where an engine that keeps its data has it. */
export type StoragePlace = { readonly kind: 'sqlite'; readonly directory: string } | DatabasePlace;

/** A database. */
export interface DatabasePlace {
  readonly kind: 'postgres';
  /** With the password; it is never shown. */
  readonly url: string;
}
