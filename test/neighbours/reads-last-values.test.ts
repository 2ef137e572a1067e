import assert from 'node:assert/strict';
import test from 'node:test';
import { startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';
import { residentMebibytes, type Sulker, sulk } from './unread.ts';

const devices = 10;
const sensorsPerDevice = 60;
const valueCharacters = 60_000;
const connections = 200;
const grownMebibytesMax = 300;

test('the last values of many sensors are never all in memory', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('eve');
  for (let at = 0; at < devices; at += 1) {
    const sensors = Array.from({ length: sensorsPerDevice }, (_, n) => ({ id: `s${n}` }));
    const json = { id: `wordy-${at}`, sensors };
    assert.equal((await town.call({ method: 'POST', path: '/devices', token, json })).status, 204);
    for (const { id } of sensors) {
      const path = `/devices/wordy-${at}/sensors/${id}/value`;
      const value = `${at} ${id} `.padEnd(valueCharacters, 'x');
      const pushed = await town.call({ method: 'POST', path, token, json: { value } });
      assert.equal(pushed.status, 204, pushed.text);
    }
  }
  const ids = Array.from({ length: devices }, (_, at) => `wordy-${at}`).join(',');
  const path = `/sensors_data/last?device_id=${ids}`;
  const whole = await town.call({ path, headers: { 'accept-encoding': 'identity' } });
  assert.equal((whole.json as readonly unknown[]).length, devices * sensorsPerDevice);
  const before = residentMebibytes(town.process.pid);
  const sulkers: Sulker[] = [];
  await town.attack(async () => {
    await manyTimes(connections, async (index) => {
      sulkers.push(await sulk(town, [path], index % 2 === 0 ? token : undefined));
    });
    await new Promise((resolve) => setTimeout(resolve, 8_000));
  });
  const grown = residentMebibytes(town.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for those who do not read`);
  for (const { socket } of sulkers) socket.destroy();
});
