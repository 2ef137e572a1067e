import assert from 'node:assert/strict';
import test from 'node:test';
import { startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const strangePushes = 3_000;
const strangeDevices = 150;

interface Refusal {
  readonly problem: string;
  readonly sensor_id?: string;
}

test('refused pushes of strangers hide nothing of what an owner’s were refused for', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('ama');
  const mallory = await town.tokenOf('mallory');
  const make = async (id: string): Promise<void> => {
    const json = { id, visibility: 'public', sensors: [{ id: 'level' }] };
    const made = await town.call({ method: 'POST', path: '/devices', token, json });
    assert.equal(made.status, 204, made.text);
  };
  await make('pond');
  for (let at = 0; at < strangeDevices; at += 1) await make(`pond-of-others-${at}`);
  const push = (device: string, sensor: string, by?: string) =>
    town.call({
      ...{ method: 'POST', path: `/devices/${device}/sensors/${sensor}/value` },
      ...{ json: { value: 1 }, ...(by !== undefined && { token: by }) },
    });
  const told = async (): Promise<readonly Refusal[]> => {
    const reply = await town.call({ path: '/devices/pond/refusals', token });
    assert.equal(reply.status, 200, reply.text);
    return reply.json as readonly Refusal[];
  };
  // What the owner's own device does wrong, once.
  assert.equal((await push('pond', 'levle', token)).status, 404);
  await town.attack(() =>
    manyTimes(
      strangePushes,
      async (at) => {
        const device = at % 2 === 0 ? 'pond' : `pond-of-others-${at % strangeDevices}`;
        const by = [undefined, mallory, `kpk_${'s'.repeat(43)}`][at % 3];
        const { status } = await push(device, `strange-${at}-${'x'.repeat(200)}`, by);
        assert.ok([401, 404].includes(status), `${status}`);
      },
      50,
    ),
  );
  const seen = await told();
  const own = seen.find(({ sensor_id: id }) => id === 'levle');
  assert.equal(own?.problem, 'unknown_sensor', 'strangers hid why the own push was refused');
  assert.ok(seen.length > 1, 'what strangers sent is not told of');
});
