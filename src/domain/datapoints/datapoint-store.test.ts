import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import type { Datapoint } from './datapoint.ts';
import { toDatapointColumns } from './datapoint-columns.ts';
import { type Page, readColumnSteps } from './datapoint-store.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const ref = { deviceId: parseDeviceId('d1'), sensorId: parseSensorId('s1') };
const all = Array.from(
  { length: 100 },
  (_, n): Datapoint => ({ value: n, timestamp: noon + n, receivedAt: noon + n }),
);

const pageOf = ({ from = 0, skip, limit }: Page): readonly Datapoint[] =>
  all.filter(({ receivedAt }) => receivedAt >= from).slice(skip, skip + limit);

function countedPace(): Pace & { readonly rests: number } {
  let rests = 0;
  return {
    isOver: () => true,
    begin: () => undefined,
    async rest() {
      rests += 1;
    },
    get rests() {
      return rests;
    },
  };
}

for (const limit of [100, Number.POSITIVE_INFINITY]) {
  const page = { order: 'asc', skip: 0, limit } as const;

  test(`others have their turn between the steps of columns, of ${limit} datapoints`, async () => {
    const pace = countedPace();
    const scan = async (_: unknown, part: Page) => ({
      ...{ columns: toDatapointColumns(pageOf(part)), isCut: false },
    });
    const room = { rowsMax: 10, charactersMax: 1_000 };
    let found = 0;
    const options = { datapoints: { scan }, ref, page, calibration: undefined, pace, room };
    for await (const { count } of readColumnSteps(options)) found += count;
    assert.equal(found, all.length);
    assert.ok(pace.rests >= 9, `${pace.rests} rests`);
  });
}
