import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../api/api-error.ts';
import type { ApiClient, ApiRequest } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { readCsvRows } from './csv-rows.ts';
import { notStored } from './csv-stored.ts';

const given = { device: 'd', sensor: 's', zone: 'UTC' };
const rowsOf = (text: string) => readCsvRows(Buffer.from(text), given);
const long = '840380235174088835';
const time = (minute: number): string => `2026-03-01T10:0${minute}:00.000Z`;

/** A service whose sensor has these datapoints. */
function createStored(json: string) {
  const asked: ApiRequest[] = [];
  const api: Pick<ApiClient, 'getJson'> = {
    getJson: async <Answer>(request: ApiRequest) => {
      asked.push(request);
      if (request.path.includes('/gone/')) {
        throw new ApiError({ status: 404, code: 'not_found', description: 'no sensor' });
      }
      return parseExact(json) as Answer;
    },
  };
  return { api, asked };
}

const head = 'device_id,sensor_id,value,timestamp,date_received\r\n';

test('what was stored without a time of measurement is no news in its own download', async () => {
  const { api, asked } = createStored(
    `[{"value":${long},"date_received":"${time(1)}"},` +
      `{"value":"1.10","date_received":"${time(2)}"},` +
      `{"value":7,"timestamp":"${time(3)}","date_received":"${time(3)}"}]`,
  );
  const rows = rowsOf(
    `${head}d,s,${long},,${time(1)}\r\nd,s,"1.10",,${time(2)}\r\n` +
      `d,s,1.10,,${time(2)}\r\nd,s,840380235174088836,,${time(1)}\r\n` +
      `d,s,7,${time(3)},${time(3)}\r\nd,gone,1,,${time(1)}\r\n`,
  );
  const news = await notStored(api, rows);
  // A number is another value than its text; what had a time the service knows by itself.
  assert.deepEqual(
    news.map(({ line }) => line),
    [4, 5, 6, 7],
  );
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/devices/d/sensors/s/values', '/devices/d/sensors/gone/values'],
  );
  assert.equal(asked[0]?.query?.['dateFrom'], time(1));
  assert.equal(asked[0]?.query?.['dateTo'], time(2));
});

test('a table of one column for each sensor is looked through, other files are not', async () => {
  const { api, asked } = createStored(`[{"value":1,"date_received":"${time(1)}"}]`);
  const wide = rowsOf(`timestamp,d/s\r\n${time(1)},1\r\n${time(2)},1\r\n`);
  assert.equal((await notStored(api, wide)).length, 1);
  assert.equal(asked.length, 1);
  await notStored(api, rowsOf(`timestamp,value\n${time(1)},1\n`));
  assert.equal(asked.length, 1);
});
