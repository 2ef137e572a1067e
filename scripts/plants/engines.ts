import { type Plant, patch } from './plant.ts';

/** Faults of the embedded engine, which tests at the endpoints have to notice. */
export const plantsOfEngines: readonly Plant[] = [
  {
    name: 'a removed sensor takes its datapoints along on the embedded engine',
    ...{ file: 'test/v2/sensors.test.ts', test: 'a deleted sensor takes its datapoints along' },
    says: /deepEqual|deepStrictEqual|deep-equal|!==/,
    patches: [
      patch(
        'src/storage/sql/devices.ts',
        "      if (outcome === 'removed') forget(id, sensorId);\n",
        '',
      ),
    ],
  },
  {
    name: 'an id that is taken is refused on the embedded engine',
    ...{ file: 'test/v2/devices.test.ts', test: 'a taken id is refused with 422' },
    says: /422/,
    patches: [
      patch(
        'src/storage/sql/device-writes.ts',
        "(insertDevice, bucketOf(id), ...columns)) === 0) return 'duplicate'",
        "(insertDevice, bucketOf(id), ...columns)) < 0) return 'duplicate'",
      ),
    ],
  },
];
