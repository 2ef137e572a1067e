import type { ChangeFeed } from '../changes.ts';
import type { ActuatorChange } from '../devices/actuators.ts';
import type { Push } from './datapoint-store.ts';

/** Something that became durable a moment ago: datapoints of one sensor, or an actuator's value. */
export type FeedEvent =
  | ({ readonly kind: 'datapoints' } & Push)
  | ({ readonly kind: 'actuator' } & ActuatorChange);

/** Called with everything that is published, at once: it must not do long work of its own. */
export type FeedListener = (events: readonly FeedEvent[]) => void;

/** The live stream of what was stored, for those who watch, and of changes; nothing is kept. */
export interface Feed extends ChangeFeed {
  /** Hands the events to every listener, in order; never throws. */
  publish(events: readonly FeedEvent[]): void;
  /** Calls the listener from now on; the answer ends that. */
  subscribe(listener: FeedListener): () => void;
}
