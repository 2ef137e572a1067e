import { instantOf } from '../api/freshness.ts';
import type { Datapoint, Device } from '../api/types.ts';
import { liveLimits } from './live-limits.ts';

/** What asking for newest values is made of. */
export interface NewestParts {
  /** The newest of a sensor by time, as reads show it. */
  readonly fetchNewest: (device: string, sensor: string) => Promise<Datapoint | undefined>;
  readonly onNewest: (device: string, sensor: string, newest: Datapoint) => void;
}

/**
 * Asks for the newest value of sensors whose last value came late: what was pushed last need not be
 * what was measured last [contract 15].
 */
export function createNewestValues({ fetchNewest, onNewest }: NewestParts) {
  /** By device and sensor: of which late value that was asked. */
  let asked = new Map<string, string>();
  let waiting: { readonly device: string; readonly sensor: string; readonly key: string }[] = [];
  let running = 0;

  function next(): void {
    if (running >= liveLimits.newestAtOnce) return;
    const wanted = waiting.shift();
    if (wanted === undefined) return;
    running += 1;
    const { device, sensor, key } = wanted;
    const known = asked;
    fetchNewest(device, sensor)
      .then((newest) => {
        // Of values that were corrected meanwhile nothing is told.
        if (newest !== undefined && known === asked) onNewest(device, sensor, newest);
      })
      .catch(() => {
        // What was pushed last shows; the next load asks again.
        known.delete(key);
      })
      .finally(() => {
        running -= 1;
        next();
      });
    next();
  }

  return {
    /** Devices as they were loaded. */
    ask(devices: readonly Device[]): void {
      for (const { id: device, sensors } of devices) {
        for (const { id: sensor, last_value } of sensors) {
          const key = JSON.stringify([device, sensor]);
          const late = JSON.stringify(last_value);
          if (!isLate(last_value) || asked.get(key) === late) continue;
          if (waiting.length >= liveLimits.newestWaitingMax) return;
          if (asked.size >= liveLimits.newestKnownMax) asked.clear();
          asked.set(key, late);
          waiting.push({ device, sensor, key });
        }
      }
      next();
    },
    /** Values were corrected: what was asked is asked again. */
    forget(): void {
      asked = new Map();
      waiting = [];
    },
  };
}

function isLate(last: Datapoint | undefined): last is Datapoint {
  if (last?.timestamp === undefined || last.date_received === undefined) return false;
  const [measured, received] = [instantOf(last), Date.parse(last.date_received)];
  return measured !== undefined && received - measured > liveLimits.lateMs;
}
