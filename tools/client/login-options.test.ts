import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { addressOf } from './login-options.ts';

const addressWith = (settings: Readonly<Record<string, string>>): string =>
  addressOf(loadConfig(settings).config.listen);

test('a command asks the service where its settings let it listen', () => {
  assert.equal(addressWith({}), 'http://127.0.0.1:8080');
  assert.equal(addressWith({ KIPIMO_HTTP_PORT: '81' }), 'http://127.0.0.1:81');
  assert.equal(addressWith({ KIPIMO_HOST: '::' }), 'http://[::1]:8080');
  assert.equal(addressWith({ KIPIMO_HOST: '::1' }), 'http://[::1]:8080');
  assert.equal(addressWith({ KIPIMO_HOST: '10.0.0.7' }), 'http://10.0.0.7:8080');
});

test('a command asks for the name that the certificate is for', () => {
  const tls = { KIPIMO_TLS_CERT: import.meta.filename, KIPIMO_TLS_KEY: import.meta.filename };
  const publicUrl = { KIPIMO_PUBLIC_URL: 'https://sensors.example.org' };
  assert.equal(addressWith({ ...tls, ...publicUrl }), 'https://sensors.example.org');
  assert.equal(addressWith(tls), 'https://127.0.0.1:8080');
  assert.equal(addressWith(publicUrl), 'http://127.0.0.1:8080', 'behind a proxy');
});
