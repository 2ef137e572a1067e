import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { promisify } from 'node:util';
import { embedded } from '../engine.ts';
import { createCall, type Reply } from '../service.ts';
import { runProgram, type ServiceProcess, startProcess } from '../service-process.ts';
import { repositoryRoot } from '../source-files.ts';

const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_PROVE_ADDRESSES: 'off' };
const password = 'bamboo-4711';

let root: string;
let directory: string;
let service: ServiceProcess;
let key: string;

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'kipimo-export-'));
  directory = join(root, 'data');
  mkdirSync(directory);
  service = await startProcess({ directory, environment });
  key = await fillService(service.url);
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const kipimo = (...words: readonly string[]) =>
  runProgram(words, { directory, environment: { KIPIMO_PASSWORD: 'admin-password-1' } });

async function tokenAt(url: string, username = 'ama'): Promise<string> {
  const json = { username, password };
  return (await createCall(url)({ method: 'POST', path: '/auth/token', json })).text;
}

/** Two people, one of whom has some of everything; answers her access key. */
async function fillService(url: string): Promise<string> {
  const call = createCall(url);
  for (const username of ['ama', 'kofi']) {
    await call({ method: 'POST', path: '/users', json: { username, password } });
  }
  const token = await tokenAt(url);
  const put = async (method: string, path: string, json: unknown): Promise<Reply> => {
    const reply = await call({ method, path, json, token });
    assert.ok(reply.status < 300, `${path}: ${reply.text}`);
    return reply;
  };
  const sensors = [{ id: 'TC1', unit: 'DegreeCelsius', measures: 'counter' }];
  await put('POST', '/devices', { id: 'pond', visibility: 'private', sensors });
  const values = Array.from({ length: 300 }, (_, n) => ({
    value: n / 4,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
  }));
  await put('POST', '/devices/pond/sensors/TC1/values', values);
  await put('PUT', '/devices/pond/grants/kofi', ['device:view', 'device-data:view']);
  await put('POST', '/gateways', { id: 'school', visibility: 'private' });
  await put('POST', '/projects', { name: 'fish', device_ids: ['pond'], gateway_ids: ['school'] });
  await put('POST', '/notifications', {
    condition: { devices: ['pond'], sensors: ['TC1'], expression: 'TC1 > 1000' },
    action: { usernames: ['ama'], channels: ['sms'], message: '{TC1}' },
  });
  const made = await put('POST', '/auth/keys', { name: 'well' });
  return (made.json as { readonly key: string }).key;
}

/** What people see, over all doors that show it. */
async function seenAt(url: string): Promise<readonly unknown[]> {
  const call = createCall(url);
  const seen: unknown[] = [];
  for (const username of ['ama', 'kofi']) {
    const token = await tokenAt(url, username);
    for (const path of [
      '/devices',
      '/devices/pond/sensors/TC1/values?limit=1000',
      '/devices/pond/grants',
      '/gateways',
      '/projects',
      '/notifications',
      '/auth/keys',
    ]) {
      const { status, json } = await call({ path, token });
      seen.push({ username, path, status, json });
    }
  }
  return seen;
}

embedded('kipimo export and kipimo import on a fresh installation: equal', async () => {
  const file = join(root, 'all.kipimo-export');
  const exported = await kipimo('export', file);
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(exported.stdout, /3 users.*1 key.*1 device.*300 datapoints/);
  assert.equal((await kipimo('export', file)).code, 1, 'it overwrites nothing');
  const fresh = join(root, 'fresh');
  assert.equal((await kipimo('import', file, '--data-dir', fresh)).code, 1, 'no such directory');
  mkdirSync(fresh);
  const imported = await kipimo('import', file, '--data-dir', fresh);
  assert.equal(imported.code, 0, imported.stderr);
  await using other = await startProcess({ directory: fresh, environment });
  assert.deepEqual(await seenAt(other.url), await seenAt(service.url));
  const byKey = await createCall(other.url)({ path: '/devices/pond', token: key });
  assert.equal(byKey.status, 200, 'keys work as before');
});

embedded(
  'an import that fails changes nothing, nor does one beside a running service',
  async () => {
    const file = join(root, 'one.kipimo-export');
    const exported = await kipimo('export', file, '--account', 'ama');
    assert.match(exported.stdout, /1 user, 1 key, 1 device/);
    const beside = await kipimo('import', file, '--data-dir', directory);
    assert.match(beside.stderr, /in use by another kipimo/);
    const target = join(root, 'target');
    mkdirSync(target);
    assert.equal((await kipimo('import', file, '--data-dir', target)).code, 0);
    const list = () => kipimo('user', 'list', '--data-dir', target);
    const known = (await list()).stdout;
    const again = await kipimo('import', file, '--data-dir', target);
    assert.match(again.stderr, /the user ama is there already/);
    writeFileSync(file, 'cut');
    assert.match(
      (await kipimo('import', file, '--data-dir', target)).stderr,
      /no export of kipimo/,
    );
    assert.equal((await list()).stdout, known);
    assert.deepEqual(
      readdirSync(target).filter((name) => /^copy-|^before-/.test(name)),
      [],
    );
  },
);

embedded('kipimo user delete asks, or is told yes, and takes everything with it', async () => {
  const target = join(root, 'deleting');
  mkdirSync(target);
  const file = join(root, 'deleting.kipimo-export');
  await kipimo('export', file);
  await kipimo('import', file, '--data-dir', target);
  const unasked = await kipimo('user', 'delete', 'ama', '--data-dir', target);
  assert.match(unasked.stderr, /give --yes/);
  const last = await kipimo('user', 'delete', 'admin', '--yes', '--data-dir', target);
  assert.match(last.stderr, /last admin/);
  const done = await kipimo('user', 'delete', 'ama', '--yes', '--data-dir', target);
  assert.match(done.stdout, /ama and everything that was its own is deleted/);
  await kipimo('export', `${file}-after`, '--data-dir', target);
  const left = await kipimo('user', 'list', '--data-dir', target);
  assert.doesNotMatch(left.stdout, /ama/);
  const running = await kipimo('user', 'delete', 'ama', '--yes');
  assert.match(running.stderr, /in use by another kipimo/);
});

embedded('kipimo key list, add and remove work beside the service', async () => {
  const made = await kipimo('key', 'add', 'ama', 'roof', '--devices', 'pond');
  assert.equal(made.code, 0, made.stderr);
  const { id, key: secret } = JSON.parse(made.stdout) as { id: string; key: string };
  const call = createCall(service.url);
  assert.equal((await call({ path: '/devices/pond', token: secret })).status, 200);
  const listed = await kipimo('key', 'list', 'ama');
  assert.ok(listed.stdout.includes(id) && !listed.stdout.includes(secret));
  assert.equal((await kipimo('key', 'remove', 'ama', id)).code, 0);
  assert.doesNotMatch((await kipimo('key', 'list', 'ama')).stdout, new RegExp(id));
});

embedded('kipimo device list and kipimo stats tell what a running service has', async () => {
  const place = ['--url', service.url];
  const devices = await kipimo('device', 'list', ...place, '--username', 'admin');
  assert.match(devices.stdout, /pond +ama +private +1/);
  const json = await kipimo('device', 'list', '--json', ...place, '--username', 'admin');
  assert.equal((JSON.parse(json.stdout) as { id: string }).id, 'pond');
  const stats = await kipimo('stats', '--json', ...place);
  assert.equal(stats.code, 0, stats.stderr);
  const { users, devices: count, notifications } = JSON.parse(stats.stdout);
  assert.deepEqual([users, count, notifications], [3, 1, 1]);
  assert.match((await kipimo('stats', ...place)).stdout, /datapoints stored since the start/);
});

embedded(
  'kipimo stats finds the service and its password by the .env of its directory',
  async () => {
    const here = mkdtempSync(join(root, 'settings-'));
    const { port } = new URL(service.url);
    const lines = [
      'KIPIMO_HOST=0.0.0.0',
      `KIPIMO_HTTP_PORT=${port}`,
      'KIPIMO_PASSWORD=admin-password-1',
    ];
    const asked = (text: string) => {
      writeFileSync(join(here, '.env'), text);
      const program = [join(repositoryRoot, 'src', 'main.ts'), 'stats', '--json'];
      return promisify(execFile)(process.execPath, program, { cwd: here, env: {} });
    };
    assert.equal(JSON.parse((await asked(lines.join('\n'))).stdout).users, 3);
    await assert.rejects(asked('KIPIMO_HTTP_PORT=0'), /KIPIMO_HTTP_PORT is 0.*give the address/);
  },
);

embedded('shell completion is made from the commands, and completes them', async () => {
  const { stdout: script } = await kipimo('completion', 'bash');
  const complete = async (...words: readonly string[]) => {
    const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${
      words.length - 1
    }; _kipimo; echo "\${COMPREPLY[*]}"`;
    return (await promisify(execFile)('bash', ['-c', `${script}\n${call}`])).stdout.trim();
  };
  assert.equal(await complete('kipimo', 'exp'), 'export');
  assert.equal(await complete('kipimo', 'import', 'cl'), 'cloud');
  assert.equal(await complete('kipimo', 'user', 'add', '--pass'), '--password-file --password');
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await kipimo('completion', shell);
    assert.equal(code, 0);
    for (const word of ['export', '--account', 'passwd']) assert.ok(stdout.includes(word), shell);
  }
});
