import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { minute, openSensor } from './sensor-endpoint.ts';

const count = 6_500;
const pageLimit = 2_500;

// Long pages are written from columns, short ones from datapoints: they must not differ.
test('a long page has the bytes of the short ones it stands for', async () => {
  await using service = await startService();
  const sensor = await openSensor(service);
  const linear = {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 1 },
    value_max: { sensor_value: 100, real_value: 301 },
  };
  const put = { method: 'PUT', path: `${sensor.path}/calib`, json: { linear } };
  assert.equal((await service.call(put)).status, 204);
  const values = [21.5, -0.01, 1e-9, 'wet', '7', true, null, { deep: ['é', 1] }, 3.3333333333, 0];
  const datapoints = Array.from({ length: count }, (_, n) => ({
    value: values[n % values.length],
    ...(n % 50 !== 7 && { timestamp: minute(n * 7) }),
  }));
  for (let at = 0; at < count; at += 500) await sensor.push(datapoints.slice(at, at + 500));
  await service.call({
    method: 'PATCH',
    path: `${sensor.path}/values`,
    json: [{ timestamp: minute(14), value: 99 }],
  });
  for (const query of ['', '&sort=dsc', '&calibrated=false', '&raw=true']) {
    for (const format of ['json', 'csv']) {
      const read = async (limit: number, offset: number): Promise<string> => {
        const parameters = `?format=${format}&limit=${limit}&offset=${offset}${query}`;
        const reply = await sensor.read(parameters);
        assert.equal(reply.status, 200, reply.text);
        return reply.text;
      };
      const short: string[] = [];
      for (let at = 0; at < count; at += pageLimit) short.push(await read(pageLimit, at));
      const joined =
        format === 'csv'
          ? short.map((text, at) => (at === 0 ? text : text.slice(text.indexOf('\n') + 1))).join('')
          : `[${short.map((text) => text.slice(1, -1)).join(',')}]`;
      assert.equal(await read(1_000_000, 0), joined, `${format} ${query}`);
    }
  }
  const [first] = (await sensor.read('?limit=10000')).json as { value: number }[];
  assert.equal(first?.value, 65.5, 'the calibration holds');
  const none = await sensor.read('?limit=10000&dateFrom=2030-01-01');
  assert.equal(none.text, '[]');
  const noRows = await sensor.read('?limit=10000&dateFrom=2030-01-01&format=csv');
  const rows = await sensor.read('?limit=10000&format=csv');
  assert.equal(noRows.text, rows.text.slice(0, rows.text.indexOf('\n') + 1));
  assert.match(noRows.text, /^[\w, ]*date_received[\w, ]*\r\n$/);
});
