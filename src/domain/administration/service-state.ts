import type { Instant } from '../../lib/clock.ts';
import type { Actor } from '../actor.ts';
import type { StorageQuotas, StorageReport } from '../budgets/storage-quotas.ts';
import { forbidden } from '../errors.ts';
import type { InstallationStore } from '../installation-store.ts';
import type { Reporter } from '../reporter.ts';
import type { EffectiveSettings, InstallationSettings } from './installation-settings.ts';

/** Facts that the service knows of itself from its start on. */
export interface ServiceFacts {
  readonly version: string;
  readonly startedAt: Instant;
  /** The settings that say something else now than at the start; they hold after the next one. */
  readonly changedSettings: () => readonly string[];
}

/** How the service is, for administrators. */
export interface ServiceReport extends Omit<ServiceFacts, 'changedSettings'> {
  readonly settings: EffectiveSettings;
  readonly storage: StorageReport;
  readonly restartNeeded: readonly string[];
  readonly lastBackupAt?: Instant;
  /** Messages given up since the start, by channel. */
  readonly failedMessages: ReadonlyMap<string, number>;
}

/** Owners of the most bytes on disk that are named. */
const largestMax = 10;
/** Reports how the service is. Throws forbidden unless an admin asks. */
export type ServiceState = (actor: Actor) => Promise<ServiceReport>;

export function createServiceState(options: {
  readonly facts: ServiceFacts;
  readonly installation: Pick<InstallationStore, 'lastBackupAt'>;
  readonly settings: Pick<InstallationSettings, 'current'>;
  readonly room: Pick<StorageQuotas, 'report'>;
  readonly failedMessages: ReadonlyMap<string, number>;
}): ServiceState {
  const { facts, installation, settings, room, failedMessages } = options;
  return async (actor) => {
    if (actor.kind !== 'admin') throw forbidden('only administrators see how the service is');
    const { changedSettings, ...known } = facts;
    const lastBackupAt = await installation.lastBackupAt();
    return {
      ...known,
      settings: settings.current(),
      storage: room.report(largestMax),
      restartNeeded: changedSettings(),
      ...(lastBackupAt !== undefined && { lastBackupAt }),
      failedMessages,
    };
  };
}

/** Counts the messages that were given up, besides calling the reporter; channels are few. */
export function countFailedMessages(reporter: Reporter): {
  readonly reporter: Reporter;
  readonly failedMessages: ReadonlyMap<string, number>;
} {
  const failedMessages = new Map<string, number>();
  const counting: Reporter = {
    ...reporter,
    deliveryTried(channel, outcome) {
      reporter.deliveryTried(channel, outcome);
      if (outcome !== 'failed') return;
      failedMessages.set(channel, (failedMessages.get(channel) ?? 0) + 1);
    },
  };
  return { reporter: counting, failedMessages };
}
