import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';

/** A datapoint as a client hands it over: not yet received. */
export interface NewDatapoint {
  readonly value: JsonValue;
  readonly timestamp?: Instant;
}

/** Datapoints of one push by position: an array, or the columns of a long one. */
export interface NewDatapoints {
  readonly length: number;
  at(position: number): NewDatapoint | undefined;
}
