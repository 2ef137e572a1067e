import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../lib/log.ts';
import { watchTlsFiles } from './tls-files.ts';

test('a certificate or key that cannot be used names its key of the configuration', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-tls-'));
  const broken = join(directory, 'broken.pem');
  writeFileSync(broken, 'no PEM');
  const missing = join(directory, 'missing.pem');
  const watch = (certFile: string, keyFile: string) => () =>
    watchTlsFiles({ certFile, keyFile }, silentLog);
  assert.throws(watch(missing, broken), /KIPIMO_TLS_CERT: .*missing\.pem cannot be read \(ENOENT/);
  assert.throws(watch(broken, missing), /KIPIMO_TLS_KEY: .*missing\.pem cannot be read \(ENOENT/);
  assert.throws(watch(broken, broken), /KIPIMO_TLS_CERT: .*broken\.pem holds no certificate/);
  rmSync(directory, { recursive: true });
});
