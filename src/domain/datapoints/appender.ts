import type { Clock } from '../../lib/clock.ts';
import { createGroupCommit } from '../../lib/group-commit.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { Consequences } from './consequences.ts';
import type { AppendOutcome, DatapointStore, Push } from './datapoint-store.ts';
import type { Feed, FeedEvent } from './feed.ts';

/** Lets all pushes that wait share one commit, and tells those who watch; every road ends here. */
export interface Appender {
  /**
   * Resolves when the push is synced to disk with all that follows from it, and those who watch
   * were told what is new.
   * Throws unavailable: nothing was kept, retry.
   */
  append(push: Push): Promise<AppendOutcome>;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

export function createAppender(options: {
  readonly store: DatapointStore;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Told before those who watch. */
  readonly consequences?: Consequences;
}): Appender {
  const { store, feed, clock, reporter, consequences } = options;

  async function commit(batch: readonly Push[]): Promise<readonly Appended[]> {
    const startedAt = clock.now();
    try {
      const outcomes = await store.append(batch);
      let datapoints = 0;
      let fresh = 0;
      const events: Extract<FeedEvent, { kind: 'datapoints' }>[] = [];
      /** Stored before, and perhaps never told: a crash may have come between [contract 8]. */
      const repeated: FeedEvent[] = [];
      /** The places of the events in the batch. */
      const places: number[] = [];
      batch.forEach(({ deviceId, sensorId, datapoints: pushed, envelope }, index) => {
        const outcome = outcomes[index];
        if (outcome?.kind !== 'stored') return;
        datapoints += pushed.length;
        fresh += outcome.fresh.length;
        if (outcome.fresh.length === 0) {
          if (envelope?.isRepetition !== true) return;
          repeated.push({ kind: 'datapoints', deviceId, sensorId, datapoints: pushed, envelope });
          return;
        }
        places.push(index);
        events.push({
          kind: 'datapoints',
          deviceId,
          sensorId,
          datapoints: outcome.fresh,
          ...(envelope !== undefined && { envelope }),
        });
      });
      const waits = events.length > 0 ? consequences?.(events) : undefined;
      if (events.length > 0) feed.publish(events);
      if (repeated.length > 0) feed.publish(repeated);
      reporter.commitFinished({ datapoints: fresh, durationMs: clock.now() - startedAt });
      if (datapoints > fresh) reporter.datapointsRepeated(datapoints - fresh);
      return waits === undefined ? outcomes : withWaits(outcomes, places, waits);
    } catch (reason) {
      reporter.commitFailed();
      throw reason;
    }
  }

  const group = createGroupCommit<Push, Appended>({
    commit,
    weigh: (push) => push.datapoints.length,
    batchWeightMax: limits.commitDatapointsMax,
    queueWeightMax: limits.commitQueueDatapointsMax,
    refusal: () =>
      new DomainError(
        'unavailable',
        'too many datapoints wait to be stored: try again in a moment',
        { retryAfterSeconds: 2 },
      ),
  });

  return {
    append: consequences === undefined ? group.add : (push) => group.add(push).then(whole),
    drain: group.drain,
  };
}

/** An outcome, and what its push has to wait for; the next commit does not. */
type Appended = AppendOutcome | (AppendOutcome & { readonly waitsFor: Promise<void> });

function withWaits(
  outcomes: readonly AppendOutcome[],
  places: readonly number[],
  waits: readonly (Promise<void> | undefined)[],
): readonly Appended[] {
  const appended: Appended[] = [...outcomes];
  waits.forEach((waitsFor, index) => {
    const place = places[index];
    const outcome = place === undefined ? undefined : outcomes[place];
    if (waitsFor === undefined || outcome === undefined || place === undefined) return;
    appended[place] = { ...outcome, waitsFor };
  });
  return appended;
}

function whole(appended: Appended): AppendOutcome | Promise<AppendOutcome> {
  return 'waitsFor' in appended ? appended.waitsFor.then(() => appended) : appended;
}
