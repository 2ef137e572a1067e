import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const createDevice = (id: unknown) =>
  service.call({ method: 'POST', path: '/devices', json: { id } });

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
const forbidden = [...' &?/#+<>"\'=;()%\\'];
const allowed = printable.filter((character) => !forbidden.includes(character));

test('every printable character beside the forbidden ones may stand in an id', async () => {
  for (const character of allowed) {
    const id = `c${character}${character.charCodeAt(0)}`;
    assertDone(await createDevice(id), id);
    const reply = await service.call({ path: `/devices/${encodeURIComponent(id)}` });
    assert.equal((reply.json as { id?: unknown }).id, id);
  }
});

test('every other character is refused in the id of a device and of a sensor', async () => {
  const others = ['\t', '\n', '\r', '\0', '\x7f', '\xa0', 'é', '東', '🌽', '\u200b', '\ud800'];
  assertDone(await createDevice('host'));
  for (const character of [...forbidden, ...others]) {
    const of = JSON.stringify(character);
    for (const id of [character, `a${character}`, `${character}b`]) {
      assertRefused(await createDevice(id), 400, { saying: /id/, of });
      const sensor = await service.call({
        method: 'POST',
        path: '/devices/host/sensors',
        json: { id },
      });
      assertRefused(sensor, 400, { saying: /id/, of });
      const inBody = await service.call({
        method: 'POST',
        path: '/devices',
        json: { id: 'inner', sensors: [{ id: 'fine' }, { id }] },
      });
      assertRefused(inBody, 400, { saying: /id/, of });
    }
  }
  const host = await service.call({ path: '/devices/host' });
  assert.deepEqual((host.json as { sensors?: unknown }).sensors, []);
  assertRefused(await service.call({ path: '/devices/inner' }), 404);
});

test('an id has 1 to 256 characters and is a text', async () => {
  const longest = 'x'.repeat(256);
  assertDone(await createDevice(longest));
  const path = `/devices/${longest}`;
  assert.equal((await service.call({ path })).status, 200);
  assertDone(
    await service.call({ method: 'POST', path: `${path}/sensors`, json: { id: longest } }),
  );
  assert.equal((await service.call({ path: `${path}/sensors/${longest}` })).status, 200);
  for (const id of ['', `${longest}x`, 7, true, {}, [], ['a'], null]) {
    assertRefused(await createDevice(id), 400, { saying: /id/ });
  }
  const missing = await service.call({ method: 'POST', path: '/devices', json: { name: 'x' } });
  assertRefused(missing, 400, { saying: /id/ });
});

test('a bad id in the path is 400, in any place of it', async () => {
  assertDone(await createDevice('here'));
  const bad = ['a%20b', 'a%2Fb', 'caf%C3%A9', '%00', 'a%25b', '%3Cb%3E', `${'x'.repeat(257)}`];
  for (const id of bad) {
    assertRefused(await service.call({ path: `/devices/${id}` }), 400, { of: id });
    assertRefused(await service.call({ method: 'DELETE', path: `/devices/${id}` }), 400, {
      of: id,
    });
    assertRefused(await service.call({ path: `/devices/here/sensors/${id}` }), 400, { of: id });
    const put = await service.call({ method: 'PUT', path: `/devices/${id}/name`, body: 'n' });
    assertRefused(put, 400, { of: id });
  }
});

test('an id is the same thing percent-encoded or not', async () => {
  const id = 'a:b@c';
  assertDone(await createDevice(id));
  for (const path of ['a:b@c', 'a%3Ab%40c', '%61:b%40c']) {
    const reply = await service.call({ path: `/devices/${path}` });
    assert.equal((reply.json as { id?: unknown }).id, id, path);
  }
  assertRefused(await createDevice('a%3Ab'), 400);
});

test('the 256 characters of an id may all be percent-encoded', async () => {
  const id = '@'.repeat(256);
  assertDone(await createDevice(id));
  const path = `/devices/${'%40'.repeat(256)}`;
  assert.equal((await service.call({ path })).status, 200);
  assertDone(await service.call({ method: 'DELETE', path }));
});

test('ids that mean something to JavaScript are ids like others', async () => {
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    assertRefused(await service.call({ path: `/devices/${id}` }), 404, { of: id });
    assertDone(await createDevice(id), id);
    const sensors = `/devices/${id}/sensors`;
    assertRefused(await service.call({ path: `${sensors}/${id}` }), 404, { of: id });
    assertDone(await service.call({ method: 'POST', path: sensors, json: { id, name: 'n' } }));
    const values = `${sensors}/${id}/values`;
    assertDone(await service.call({ method: 'POST', path: values, json: { value: 4 } }));
    const reply = await service.call({ path: `/devices?q=${id}==4` });
    const [device] = reply.json as { id: string; sensors: { value?: { value: unknown } }[] }[];
    assert.equal(device?.id, id);
    assert.equal(device.sensors[0]?.value?.value, 4);
  }
});
