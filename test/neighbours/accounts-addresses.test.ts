import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordOf } from '../service.ts';
import { startNeighbourhood } from './neighbours.ts';

const email = 'amina@example.org';
const from = (address: string) => ({ 'x-forwarded-for': address });

test('whoever takes her address as a username, or asks for her resets, stays outside', async () => {
  await using town = await startNeighbourhood({
    environment: { KIPIMO_SMTP_URL: 'log:', KIPIMO_TRUSTED_PROXIES: '127.0.0.1,::1' },
  });
  const admin = await town.tokenOf('admin');
  const password = passwordOf('amina');
  const amina = { username: 'amina', password, email };
  const made = await town.call({ method: 'POST', path: '/users', token: admin, json: amina });
  assert.equal(made.status, 200, made.text);
  const ask = (login: string, address: string) => {
    const json = { username: login };
    return town.call({ method: 'POST', path: '/auth/reset', json, headers: from(address) });
  };
  const mails = () => town.process.output().split('"username":"amina"').length - 1;
  await town.attack(async () => {
    const taken = { username: email, password: passwordOf('thief') };
    const refused = await town.call({ method: 'POST', path: '/users', json: taken });
    assert.equal(refused.status, 400, `the thief has her address: ${refused.text}`);
    const json = { username: email, password };
    assert.equal((await town.call({ method: 'POST', path: '/auth/token', json })).status, 200);
    for (let count = 0; count < 3; count += 1) await ask('amina', '192.0.2.66');
    assert.equal((await ask(email, '198.51.100.7')).status, 204);
    const patience = Date.now() + 5_000;
    while (mails() < 4 && Date.now() < patience) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(mails(), 4, 'three that the stranger asked for, and her own');
  });
});

test('a grant to be ended under the name .. leaves the device where it is', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('careful');
  const json = { id: 'pond', sensors: [{ id: 'level' }] };
  assert.equal((await town.call({ method: 'POST', path: '/devices', token, json })).status, 204);
  await town.attack(async () => {
    for (const path of ['/devices/pond/grants/..', '/devices/pond/sensors/%2e%2e']) {
      assert.equal((await town.call({ method: 'DELETE', path, token })).status, 400, path);
    }
    assert.equal((await town.call({ path: '/devices/pond', token })).status, 200);
  });
});
