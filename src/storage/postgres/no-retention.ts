import type { Stretches } from '../../domain/datapoints/stretches.ts';
import { unavailable } from './failures.ts';

const none = new Float64Array();

const noStretches: Stretches = {
  ...{ count: 0, starts: none, ends: none, counts: none, numbers: none, textNumbers: none },
  ...{ min: none, max: none, sum: none, first: none, last: none, rise: none, fall: none },
  hasNumbersAtEnds: new Uint8Array(),
};

/** Everything is kept: whoever asks for less is told so, and nothing is promised. */
export const noRetention = {
  retentions: {
    find: async () => undefined,
    put: (): Promise<never> =>
      Promise.reject(unavailable('retention is not there yet on PostgreSQL: all datapoints stay')),
    isAnySet: async () => false,
    sensors: async () => [],
  },
  retaining: {
    step: async () => ({
      ...{ datapoints: 0, hours: 0, hoursKept: 0, bytes: 0 },
      state: 'done' as const,
    }),
    state: async () => undefined,
    restore: (): Promise<never> =>
      Promise.reject(unavailable('hours of retention cannot be kept on PostgreSQL yet')),
  },
};

/** What reads are told of hours that stand for datapoints: there are none. */
export const noHours = {
  standsFrom: async () => undefined,
  hours: async () => noStretches,
};
