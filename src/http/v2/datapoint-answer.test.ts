import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guest } from '../../domain/actor.ts';
import { type SensorRows, toDatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { parseDeviceId, parseSensorId } from '../../domain/ids.ts';
import { v2Spelling } from '../../wire/spelling.ts';
import { answerSummary } from './datapoint-answer.ts';

const ref = { deviceId: parseDeviceId('d'), sensorId: parseSensorId('s') };

test('a long summary is written in steps, with other work between them', async (t) => {
  const datapoints = [{ value: 1, timestamp: undefined, received: 1 }];
  const columns = toDatapointColumns(datapoints as never);
  const step: readonly SensorRows[] = [{ source: { ref }, columns, from: 0, to: 1 }];
  const steps = Array.from({ length: 20 }, () => step);
  const counts = { count: 20_000, skipped: 0, total: 20_000, keptBytes: 0, standsFrom: undefined };
  const summaries = { downsample: async () => ({ steps, ...counts }) };
  let [now, written, most] = [0, 0, 0];
  const format = {
    ...{ head: '[', between: ',', tail: ']', contentType: 'application/json' },
    write: () => {
      now += 4;
      written += 1;
      return '1';
    },
  };
  t.mock.method(performance, 'now', () => now);
  const { chunks } = await answerSummary(summaries as unknown as Summaries, {
    ...{ actor: guest, selection: { deviceIds: [ref.deviceId] }, isOfOneSensor: false },
    query: { skip: 0, limit: 20_000, order: 'asc' } as never,
    ...{ limit: undefined, summary: { kind: 'points', points: 20_000 } as never },
    ...{ isCsv: false, format, spelling: v2Spelling },
  });
  let isOver = false;
  const look = (): void => {
    most = Math.max(most, written);
    written = 0;
    if (!isOver) setImmediate(look);
  };
  look();
  let text = '';
  for await (const chunk of chunks) text += chunk;
  isOver = true;
  look();
  assert.equal(text, `[${Array(20).fill('1').join()}]`);
  assert.ok(most <= 2, `${most} steps of 4 ms in one turn`);
});
