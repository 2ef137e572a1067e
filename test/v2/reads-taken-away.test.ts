import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { type Service, startService } from '../service.ts';

/** Far more than what sockets hold for a reader that takes nothing. */
const count = 40_000;
const note = 'x'.repeat(300);
const secret = 'what nobody else may see';

const reads: Readonly<Record<string, string>> = {
  'one sensor': '/devices/tank/sensors/level/values?limit=1000000',
  'one sensor, newest first': '/devices/tank/sensors/level/values?limit=1000000&sort=dsc',
  'several sensors': '/sensors_data?device_id=tank,other&limit=1000000',
  'a CSV': '/sensors_data?device_id=tank&limit=1000000&format=csv',
  'an export': '/devices/tank/export',
};

async function fill(service: Service): Promise<void> {
  const own = service.as('ama');
  for (const id of ['tank', 'other']) {
    const device = { id, visibility: 'private', sensors: [{ id: 'level' }] };
    await own({ method: 'POST', path: '/devices', json: device });
    await own({ method: 'PUT', path: `/devices/${id}/grants/kofi`, json: ['devices-data:view'] });
  }
  const begin = Date.now() - count * 60_000;
  const values = Array.from({ length: count }, (_, at) => ({
    value: `${note}${at}`,
    timestamp: new Date(begin + at * 60_000).toISOString(),
  }));
  const path = '/devices/tank/sensors/level/values';
  for (const json of [values.slice(0, count / 2), values.slice(count / 2)]) {
    assert.equal((await own({ method: 'POST', path, json })).status, 204);
  }
}

/** The answer, of which nothing is read yet. */
async function begin(service: Service, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${await service.tokenOf('kofi')}` };
  const asked = request(`${service.url}/api/v2${path}`, { headers, agent: false });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  return answer;
}

/** Reads the rest; whether it came whole. */
async function finish(answer: IncomingMessage): Promise<{ isWhole: boolean; text: string }> {
  const pieces: Buffer[] = [];
  answer.on('data', (piece: Buffer) => pieces.push(piece));
  answer.on('error', () => undefined);
  await new Promise((resolve) => answer.once('close', resolve));
  return { isWhole: answer.complete, text: Buffer.concat(pieces).toString() };
}

test('a read that is under way ends when the right is taken away', async (t) => {
  await using service = await startService();
  await service.tokenOf('kofi');
  await fill(service);
  const path = '/devices/tank/grants/kofi';
  for (const [what, read] of Object.entries(reads)) {
    await t.test(what, async () => {
      const own = service.as('ama');
      await own({ method: 'PUT', path, json: ['devices-data:view'] });
      const answer = await begin(service, read);
      assert.equal((await own({ method: 'DELETE', path })).status, 204);
      assert.equal((await finish(answer)).isWhole, false);
    });
  }
});

for (const what of ['one sensor', 'several sensors']) {
  test(`a read of ${what} shows nothing of a device that is made again meanwhile`, async () => {
    await using service = await startService();
    await service.tokenOf('kofi');
    await fill(service);
    const answer = await begin(service, reads[what] ?? '');
    const own = service.as('esi');
    const removed = await service.as('ama')({ method: 'DELETE', path: '/devices/tank' });
    assert.equal(removed.status, 204);
    const json = { id: 'tank', visibility: 'private', sensors: [{ id: 'level' }] };
    assert.equal((await own({ method: 'POST', path: '/devices', json })).status, 204);
    const path = '/devices/tank/sensors/level/value';
    assert.equal((await own({ method: 'POST', path, json: { value: secret } })).status, 204);
    const { isWhole, text } = await finish(answer);
    assert.ok(!text.includes(secret), 'values of another owner were read');
    assert.equal(isWhole, false);
  });
}

test('a device that was found and goes meanwhile is passed over, a named one missed', async () => {
  let remove: (() => Promise<unknown>) | undefined;
  await using service = await startService({
    wrapStorage: (storage) => ({
      ...storage,
      datapoints: {
        ...storage.datapoints,
        async summarise(...step) {
          const summary = await storage.datapoints.summarise(...step);
          const once = remove;
          remove = undefined;
          await once?.();
          return summary;
        },
      },
    }),
  });
  const own = service.as('ama');
  const answers: unknown[] = [];
  for (const named of ['q=visibility==public', 'device_id=kept,goes']) {
    for (const id of ['kept', 'goes']) {
      await own({ method: 'POST', path: '/devices', json: { id, sensors: [{ id: 'level' }] } });
      const path = `/devices/${id}/sensors/level/value`;
      const json = { value: 1, timestamp: '2026-01-01T00:00:00Z' };
      assert.equal((await own({ method: 'POST', path, json })).status, 204);
    }
    remove = () => own({ method: 'DELETE', path: '/devices/goes' });
    const { status, json } = await own({
      path: `/sensors_data?${named}&aggregate=count&interval=1d`,
    });
    const devices = Array.isArray(json) ? json.map((bucket) => bucket.device_id) : [];
    answers.push([status, devices]);
    assert.equal(remove, undefined);
  }
  assert.deepEqual(answers, [
    [200, ['kept']],
    [404, []],
  ]);
});

for (const gone of ['/devices/tank', '/devices/tank/sensors/level']) {
  test(`a read is not whole where ${gone} goes, also before that is told`, async (t) => {
    const told = Promise.withResolvers<void>();
    const removed = Promise.withResolvers<void>();
    /** Removes, and answers only once the reader is done. */
    const slowly =
      <Given extends readonly unknown[], Outcome>(remove: (...given: Given) => Promise<Outcome>) =>
      async (...given: Given): Promise<Outcome> => {
        const outcome = await remove(...given);
        removed.resolve();
        await told.promise;
        return outcome;
      };
    await using service = await startService({
      wrapStorage: (storage) => ({
        ...storage,
        devices: {
          ...storage.devices,
          remove: slowly(storage.devices.remove),
          removeSensor: slowly(storage.devices.removeSensor),
        },
      }),
    });
    t.after(() => told.resolve());
    await service.tokenOf('kofi');
    await fill(service);
    const answer = await begin(service, reads['one sensor'] ?? '');
    const removal = service.as('ama')({ method: 'DELETE', path: gone });
    await removed.promise;
    const { isWhole } = await finish(answer);
    told.resolve();
    assert.equal((await removal).status, 204);
    assert.equal(isWhole, false);
  });
}
