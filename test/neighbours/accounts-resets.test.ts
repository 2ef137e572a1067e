import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { passwordOf } from '../service.ts';
import { startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

/** A mail server that keeps what it is given, newest last. */
async function startMailServer() {
  const mails: string[] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, disableReverseLookup: true, hideSTARTTLS: true },
    onData(stream, _session, done) {
      void readText(stream).then((mail) => {
        mails.push(mail);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

const from = (address: string) => ({ 'x-forwarded-for': address });
const home = '198.51.100.7';
const newPassword = 'a password that nobody knows';

test('she sets a new password while strangers ask for hers and guess at codes', async () => {
  await using mail = await startMailServer();
  await using town = await startNeighbourhood({
    environment: {
      KIPIMO_SMTP_URL: `${mail.url}?from=kipimo@example.org&tls=off`,
      KIPIMO_TRUSTED_PROXIES: '127.0.0.1,::1',
    },
  });
  const admin = await town.tokenOf('admin');
  const password = passwordOf('amina');
  const account = { username: 'amina', password, email: 'amina@example.org' };
  const made = await town.call({ method: 'POST', path: '/users', token: admin, json: account });
  assert.equal(made.status, 200, made.text);
  const post = (path: string, json: object, address: string) =>
    town.call({ method: 'POST', path, json, headers: from(address) });
  // She is known at home.
  assert.equal((await post('/auth/token', account, home)).status, 200);
  let isOver = false;
  const strangers = manyTimes(40, async (index) => {
    const address = `192.0.2.${index}`;
    while (!isOver) {
      await post('/auth/reset', { username: 'amina' }, address);
      const guess = { username: 'amina', code: '7KQ2-M9XD', password: 'stolen by now' };
      const { status } = await post('/auth/reset/confirm', guess, address);
      assert.ok([401, 429].includes(status), `${status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  const setNewPassword = async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    // In her language: mails that strangers ask for come to her, too.
    const headers = { ...from(home), 'accept-language': 'sw' };
    const json = { username: 'amina@example.org' };
    const asked = await town.call({ method: 'POST', path: '/auth/reset', json, headers });
    assert.equal(asked.status, 204, asked.text);
    const hers = () => /Msimbo ni ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(mail.mails.join('\n'))?.[1];
    const patience = Date.now() + 10_000;
    while (hers() === undefined && Date.now() < patience) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const code = hers();
    assert.ok(code !== undefined, 'her mail never came');
    const confirmed = await post(
      '/auth/reset/confirm',
      { username: 'amina', code, password: newPassword },
      home,
    );
    assert.equal(confirmed.status, 204, confirmed.text);
  };
  await town.attack(async () => {
    try {
      await setNewPassword();
    } finally {
      isOver = true;
      await strangers;
    }
  });
  const login = { username: 'amina', password: newPassword };
  assert.equal((await post('/auth/token', login, home)).status, 200);
  assert.ok(mail.mails.length <= 14, `${mail.mails.length} mails: ten for all strangers`);
});
