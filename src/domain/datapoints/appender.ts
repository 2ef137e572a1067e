import type { Clock } from '../../lib/clock.ts';
import { createGroupCommit } from '../../lib/group-commit.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { AppendOutcome, DatapointStore, Push } from './datapoint-store.ts';
import type { Feed, FeedEvent } from './feed.ts';

/** Lets all pushes that wait share one commit, and tells those who watch; every road ends here. */
export interface Appender {
  /**
   * Resolves when the push is synced to disk and those who watch were told what is new.
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
}): Appender {
  const { store, feed, clock, reporter } = options;

  async function commit(batch: readonly Push[]): Promise<readonly AppendOutcome[]> {
    const startedAt = clock.now();
    try {
      const outcomes = await store.append(batch);
      let datapoints = 0;
      let fresh = 0;
      const events: FeedEvent[] = [];
      batch.forEach(({ deviceId, sensorId, datapoints: pushed, envelope }, index) => {
        const outcome = outcomes[index];
        if (outcome?.kind !== 'stored') return;
        datapoints += pushed.length;
        fresh += outcome.fresh.length;
        if (outcome.fresh.length === 0) return;
        events.push({
          kind: 'datapoints',
          deviceId,
          sensorId,
          datapoints: outcome.fresh,
          ...(envelope !== undefined && { envelope }),
        });
      });
      if (events.length > 0) feed.publish(events);
      reporter.commitFinished({ datapoints: fresh, durationMs: clock.now() - startedAt });
      if (datapoints > fresh) reporter.datapointsRepeated(datapoints - fresh);
      return outcomes;
    } catch (reason) {
      reporter.commitFailed();
      throw reason;
    }
  }

  const group = createGroupCommit<Push, AppendOutcome>({
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

  return { append: group.add, drain: group.drain };
}
