import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { passwordOf, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';

/** Reads all files of a directory, as bytes one after the other. */
function bytesIn(directory: string): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  return Buffer.concat(files);
}

embedded('a copy of the data directory has no secret that logs anybody in', async (t) => {
  const directory = temporaryDirectory(t);
  const mail = createRecordingChannels(['email']);
  const secrets = new Map<string, string>();
  {
    await using service = await startService({
      ...{ directory, isStartedByHand: true, channels: mail.open },
      environment: { KIPIMO_ADMIN_PASSWORD: '' },
    });
    const as = service.as('ama');
    const post = (path: string, json: object, headers = {}) =>
      as({ method: 'POST', path, json, headers });
    const origin = service.url;
    const login = { username: 'ama', password: passwordOf('ama'), remember: true };
    secrets.set('token', await service.tokenOf('ama'));
    const browser = await service.call({
      ...{ method: 'POST', path: '/auth/token', json: login, headers: { origin } },
    });
    const cookies = browser.headers
      .getSetCookie()
      .flatMap((text) => (/=([^;]*)/.exec(text)?.[1] ?? '').split('.'))
      .filter((part) => part.length >= 20);
    for (const [at, cookie] of cookies.entries()) secrets.set(`cookie ${at}`, cookie);
    assert.ok(cookies.length > 0, browser.headers.getSetCookie().join());
    secrets.set('token of the browser', browser.text);
    const key = (await post('/auth/keys', { name: 'gate' })).json as { key: string };
    secrets.set('key', key.key);
    await post('/devices', { id: 'yard' });
    const invitation = await post('/invitations', { devices: ['yard'] });
    const { url } = invitation.json as { url: string };
    secrets.set('invitation', url.split('/').at(-1) ?? '');
    await as({ method: 'PUT', path: '/users/me', json: { email: 'ama@example.org' } });
    const asked = { channel: 'email', address: 'ama@example.org' };
    assert.equal((await post('/users/me/addresses/prove', asked)).status, 204);
    const code = /([0-9A-Z]{4}-[0-9A-Z]{4})/.exec(mail.sent[0]?.text ?? '')?.[1];
    secrets.set('code', code ?? '');
    secrets.set('code as it is compared', code?.replace('-', '') ?? '');
    secrets.set('first login', service.app.firstLoginSecret ?? '');
    secrets.set('password', passwordOf('ama'));
    secrets.set('password of the first start', service.generatedPassword ?? '');
  }
  const stored = bytesIn(directory);
  assert.ok(stored.includes('yard') && stored.includes('ama@example.org'));
  for (const [name, secret] of secrets) {
    assert.ok(secret.length >= 8, `${name}: ${secret}`);
    assert.ok(!stored.includes(secret), name);
  }
});
