import { type Plant, patch } from './plant.ts';

const devices = 'src/storage/memory/devices.ts';

/** Differences between the engines: the black-box suite has to notice them on the one that errs. */
export const plantsOfEngines: readonly Plant[] = [
  {
    name: 'a removed sensor takes its datapoints along on the memory engine',
    ...{ file: 'test/v2/sensors.test.ts', test: 'a deleted sensor takes its datapoints along' },
    ...{ engine: 'memory', says: /deepEqual|deepStrictEqual|deep-equal|!==/ },
    patches: [patch(devices, '      state.forgetDatapoints(id, sensorId);\n', '')],
  },
  {
    name: 'an id that is taken is refused on the memory engine',
    ...{ file: 'test/v2/devices.test.ts', test: 'a taken id is refused with 422' },
    ...{ engine: 'memory', says: /422/ },
    patches: [patch(devices, "if (devices.has(device.id)) return 'duplicate';", '')],
  },
];
