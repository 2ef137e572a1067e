import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { Message } from '../domain/messaging/message.ts';
import { sameJson } from '../lib/long-json.ts';
import { createLruCache } from '../lib/lru-cache.ts';
import { pushedText } from '../wire/datapoint.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { readPublishedValues } from './payload.ts';
import { valueTopic } from './topics.ts';

/** Aligns the retained value of a sensor with its last value [contract 10]. Durable. */
export type CorrectRetained = (sensor: SensorRef) => Promise<void>;

/**
 * Replaces a retained value that differs from the last value, and forgets it where no value is
 * left; a value is retained again when that is undone.
 */
export function createCorrectRetained(
  broker: Pick<Broker, 'findRetained' | 'retain'>,
  lastValue: (sensor: SensorRef) => Promise<Datapoint | undefined>,
): CorrectRetained {
  /** Topics on which a value was retained until it was removed. */
  const emptied = createLruCache<string, Message>(mqttLimits.emptiedTopicsMax);

  return async (sensor) => {
    const topic = valueTopic(sensor);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const former = broker.findRetained(topic);
      const like = former ?? emptied.get(topic);
      if (like === undefined) return;
      const last = await lastValue(sensor);
      // Retained anew meanwhile: that is newer than what was read.
      if (broker.findRetained(topic) !== former) continue;
      if (last === undefined) {
        if (former === undefined) return;
        emptied.set(topic, { ...former, payload: nothing });
        return broker.retain({ ...former, payload: nothing });
      }
      emptied.delete(topic);
      if (former !== undefined && isSame(former, last)) return;
      return broker.retain({ ...like, retain: true, payload: Buffer.from(pushedText(last)) });
    }
  };
}

const triesMax = 5;
const nothing = new Uint8Array();

function isSame({ payload }: Message, last: Datapoint): boolean {
  try {
    const { datapoints } = readPublishedValues(payload);
    const one = datapoints.at(0);
    if (one === undefined || datapoints.length > 1) return false;
    return one.timestamp === last.timestamp && sameJson(one.value, last.value);
  } catch {
    return false;
  }
}
