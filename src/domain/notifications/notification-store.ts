import type { Instant } from '../../lib/clock.ts';
import type { Commit, NewEvaluation } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import type { Listing, ListPart } from '../listing.ts';
import type { EvaluationProgress, FiledDelivery, Firing, FiringOutcome } from './delivery.ts';
import type {
  DeviceState,
  Notification,
  NotificationChanges,
  TalliedNotification,
  Tally,
} from './notification.ts';

/** A notification with what it remembers of each device. */
export interface StoredNotification extends TalliedNotification {
  readonly states: ReadonlyMap<DeviceId, DeviceState>;
}

/** A notification's state for one device from now on. */
export interface StateChange {
  readonly notificationId: NotificationId;
  readonly deviceId: DeviceId;
  readonly state: DeviceState;
}

/** Where notifications are kept, with their deliveries. */
export interface NotificationStore {
  /**
   * missing: the owner's account ended meanwhile. too_many: it has notificationsPerUserMax. A tally
   * is given where a notification comes from another installation.
   */
  insert(notification: Notification, tally?: Tally): Promise<'inserted' | 'missing' | 'too_many'>;
  find(id: NotificationId): Promise<TalliedNotification | undefined>;
  /** Finds the notifications that exist, in the order asked for. */
  findMany(ids: readonly NotificationId[]): Promise<readonly TalliedNotification[]>;
  /** All of them, in order of creation. */
  load(): Promise<readonly StoredNotification[]>;
  /** A changed condition forgets what the notification remembers of devices. */
  update(
    id: NotificationId,
    changes: NotificationChanges,
    at: Instant,
  ): Promise<'updated' | 'missing'>;
  /** Removes it with its deliveries, in one step. */
  remove(id: NotificationId): Promise<'removed' | 'missing'>;
  /** Keeps states that changed without a firing; those of notifications that went are dropped. */
  saveStates(changes: readonly StateChange[]): Promise<void>;
  /**
   * Claims the throttling window of each firing and files its deliveries, in one commit and in
   * order: of those with the same window one gets through. Counts their messages. When too many
   * deliveries of a notification wait, further ones are filed as failed.
   */
  fire(firings: readonly Firing[]): Promise<readonly FiringOutcome[]>;
  /** Newest first. */
  deliveries(id: NotificationId, page: ListPart): Promise<Listing<'deliveries', FiledDelivery>>;
}

/** Why a delivery is not even filed as waiting. */
export const outboxFull = 'too many messages of this notification wait already';

/** An evaluation that was filed and is not over. */
export interface WaitingEvaluation {
  readonly id: string;
  /** The process that filed it, or took it since, and runs it while it serves. */
  readonly member: number;
  /** Whether that process has ended. */
  readonly isLeft: boolean;
  /** The push as published to other processes; empty: time or a client calls for the evaluation. */
  readonly text: string;
  /** Rules whose firing at this evaluation was stored. */
  readonly fired: ReadonlySet<string>;
}

/** An evaluation that is the next on its device, and its push. */
export interface NextPush {
  readonly evaluation: WaitingEvaluation;
  readonly push: StoredPush;
}

/** An evaluation that no push calls for: runs it, and ends it. */
export type EvaluationTask = (rest: readonly WaitingEvaluation[]) => Promise<EndOutcome>;

/** The queue of a device, with the rule states that were asked for. */
export interface DeviceQueue {
  readonly looks: readonly WaitingEvaluation[];
  readonly states: ReadonlyMap<NotificationId, StoredState>;
}

/** A rule's state for one device, as it is stored. */
export interface StoredState {
  readonly state: DeviceState | undefined;
  readonly lastFiredAt: Instant | undefined;
}

/** A device, and rules of which something is asked. */
export interface RulesOfDevice {
  readonly deviceId: DeviceId;
  readonly ids: readonly NotificationId[];
}

/** States of rules, and evaluations that wait, on a device as a commit finds it. */
export interface Remembered extends Pick<DeviceQueue, 'states'> {
  /**
   * The pushes of evaluations that wait on the device, as published: `waitingJudgedMax` and one
   * more at most. Empty texts: long ones, and evaluations that no push calls for.
   */
  readonly waiting: readonly string[];
}

/** Taken: the first in the queue is another process's now, and nothing was kept of this end. */
export type EndOutcome = 'ended' | 'taken';

/** States that ended evaluations leave. */
export interface EvaluationEnd {
  readonly ids: readonly string[];
  /** Published in the commit, whose firings behind this end are of an ended evaluation. */
  readonly progress?: EvaluationProgress;
  readonly states: readonly StateChange[];
}

/**
 * Evaluations of all processes that serve the same data: those of one device wait in the order of
 * their commits, and the process that has the first of them runs it, and those behind it. Every
 * method throws DomainError unavailable when the database is away.
 */
export interface EvaluationStore {
  /** The number of this process. */
  readonly member: number;
  /** Files an evaluation that no push calls for. */
  file(evaluation: NewEvaluation): Promise<void>;
  /**
   * Reads evaluations that wait on the device, `looksInLineMax` at most: the first is the next.
   * With what these rules remember of it at that moment; rules that went are absent.
   */
  line(deviceId: DeviceId, rules?: readonly NotificationId[]): Promise<DeviceQueue>;
  /**
   * Reads in the commit of an append what rules remember of devices, in the order asked. Nobody
   * files evaluations of the commit's sensors meanwhile. Rules that went are absent.
   */
  remembered(commit: Commit, asked: readonly RulesOfDevice[]): Promise<readonly Remembered[]>;
  /** Ends evaluations while this process has the first; keeps what they leave: one commit. */
  finish(end: EvaluationEnd): Promise<EndOutcome>;
  /** Makes an evaluation of that process this one's, if it still is that one's. */
  take(id: string, from: number): Promise<void>;
  /** Reads evaluations of this process, and of those that ended, with their devices. */
  left(): Promise<readonly (WaitingEvaluation & { readonly deviceId: DeviceId })[]>;
}
