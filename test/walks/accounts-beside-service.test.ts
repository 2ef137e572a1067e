import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { embedded } from '../engine.ts';
import { runProgram, type ServiceProcess, startProcess } from '../service-process.ts';

const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1' };
const pollMs = 50;
const pollsMax = 200;

let directory: string;
let service: ServiceProcess;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-accounts-'));
  service = await startProcess({ directory, environment });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const kipimoUser = (...words: readonly string[]) =>
  runProgram(['user', ...words], { directory, environment });

function logIn(username: string, password: string): Promise<Response> {
  return fetch(`${service.url}/api/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
}

async function statusOf(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${service.url}/api/v2/users/me`, { headers })).status;
}

test('an account added beside the running service can log in at once', async () => {
  const added = await kipimoUser('add', 'ama', '--password', 'bamboo-4711');
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /ama/);
  assert.ok(!added.stdout.includes('bamboo-4711'), 'a password somebody chose is not printed');
  assert.match(added.stderr, /--password-file/, 'what others can see with ps is warned of');
  assert.equal((await logIn('ama', 'bamboo-4711')).status, 200);
  const again = await kipimoUser('add', 'ama', '--password', 'bamboo-4711');
  assert.equal(again.code, 1);
  assert.match(again.stderr, /taken/);
});

test('an account added without a password gets one that is shown and works', async () => {
  const added = await kipimoUser('add', 'esi');
  assert.equal(added.code, 0, added.stderr);
  const password = /password: (\S+)/.exec(added.stdout)?.[1] ?? '';
  assert.equal((await logIn('esi', password)).status, 200);
});

test('a new password ends the old one and its tokens within seconds', async () => {
  await kipimoUser('add', 'kofi', '--password', 'cassava-0815');
  const token = await (await logIn('kofi', 'cassava-0815')).text();
  assert.equal(await statusOf(token), 200);
  const changed = await kipimoUser('passwd', 'kofi', '--password', 'plantain-1234');
  assert.equal(changed.code, 0, changed.stderr);
  assert.equal((await logIn('kofi', 'cassava-0815')).status, 401);
  const fresh = await logIn('kofi', 'plantain-1234');
  assert.equal(fresh.status, 200);

  let status = await statusOf(token);
  for (let poll = 0; status !== 401 && poll < pollsMax; poll += 1) {
    await setTimeout(pollMs);
    status = await statusOf(token);
  }
  assert.equal(status, 401, 'the old token still works');
  assert.equal(await statusOf(await fresh.text()), 200);
});

test('the list shows accounts made in either way', async () => {
  await fetch(`${service.url}/api/v2/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'yaw', password: 'groundnut-77' }),
  });
  await kipimoUser('add', 'abena', '--password', 'okra-okra-1', '--admin');
  const { code, stdout } = await kipimoUser('list', '--json');
  assert.equal(code, 0);
  const users = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { username: string; admin: boolean });
  const isAdmin = Object.fromEntries(users.map((user) => [user.username, user.admin]));
  assert.equal(isAdmin['admin'], true);
  assert.equal(isAdmin['abena'], true);
  assert.equal(isAdmin['yaw'], false);
  assert.doesNotMatch(stdout, /password|hash/i);
});

test('imported accounts keep their ids and weak passwords; bad entries are named', async () => {
  const file = join(directory, 'users.json');
  const id = '5f0c1d2e-aaaa-4bbb-8ccc-1234567890ab';
  const entries = [
    { id, username: 'efua', password: 'abc', firstName: 'Efua', phone: ['+233200000000'] },
    { username: 'guest', password: 'whatever-1' },
    { username: 'kwame', password: 'yam', admin: true },
  ];
  writeFileSync(file, JSON.stringify(entries));
  const imported = await kipimoUser('import', file);
  assert.equal(imported.code, 1, 'a refused entry shows in the exit code');
  assert.match(imported.stdout, /added 2, refused 1/);
  assert.match(imported.stderr, /entry 2\b.*guest/);

  const login = await logIn('efua', 'abc');
  assert.equal(login.status, 200);
  const headers = { authorization: `Bearer ${await login.text()}` };
  const me = (await (await fetch(`${service.url}/api/v2/users/me`, { headers })).json()) as object;
  assert.equal(Reflect.get(me, 'id'), id);
  assert.equal(Reflect.get(me, 'firstName'), 'Efua');
  assert.deepEqual(Reflect.get(me, 'phone'), ['+233200000000']);
  assert.equal((await logIn('kwame', 'yam')).status, 200);
});

test('an account is disabled, enabled and made admin while the service runs', async () => {
  const password = 'a long password of hers';
  const added = await kipimoUser('add', 'zawadi', '--password', password);
  assert.equal(added.code, 0, added.stderr);
  const token = await (await logIn('zawadi', password)).text();
  assert.equal(await statusOf(token), 200);
  assert.equal((await kipimoUser('disable', 'zawadi')).code, 0);
  for (let poll = 0; poll < pollsMax && (await statusOf(token)) !== 401; poll += 1) {
    await setTimeout(pollMs);
  }
  assert.equal(await statusOf(token), 401);
  assert.equal((await logIn('zawadi', password)).status, 401);
  assert.equal((await kipimoUser('enable', 'zawadi')).code, 0);
  const again = await logIn('zawadi', password);
  assert.equal(again.status, 200, await again.text());
  assert.match((await kipimoUser('admin', 'zawadi')).stdout, /zawadi is an admin now/);
  assert.match((await kipimoUser('list')).stdout, /^zawadi +admin/m);
  assert.match((await kipimoUser('admin', 'zawadi', '--off')).stdout, /no admin any more/);
});

embedded('no command makes an empty database of a mistyped --data-dir', async () => {
  const typo = join(directory, 'typo');
  const file = join(directory, 'some.json');
  writeFileSync(file, '[]');
  for (const words of [
    ['user', 'list'],
    ['user', 'add', 'x', '--password', 'long enough'],
    ['user', 'import', file],
    ['user', 'passwd', 'x'],
    ['user', 'disable', 'x'],
    ['user', 'admin', 'x'],
    ['backup', join(directory, 'b.kipimo')],
  ]) {
    const { code, stderr } = await runProgram([...words, '--data-dir', typo], { directory });
    assert.equal(code, 1);
    assert.match(stderr, /typo holds no data of Kipimo|there is no (database|directory)/);
    assert.equal(existsSync(typo), false, words.join(' '));
  }
  const weak = ['user', 'add', 'x', '--password', 'weak'];
  assert.equal((await runProgram(weak, { directory: missingPlace() })).code, 1);
  assert.deepEqual(readdirSync(missingPlace()), [], 'nor does a refused account');
});

function missingPlace(): string {
  const place = join(directory, 'nothing');
  mkdirSync(place, { recursive: true });
  return place;
}

embedded('no raw ENOENT from any command', async () => {
  const none = join(directory, 'none');
  const nobody = ['--url', 'http://127.0.0.1:1', '--username', 'ama', '--password-file', none];
  for (const words of [
    ['user', 'import', none],
    ['user', 'add', 'x', '--password-file', none],
    ['backup', join(none, 'file')],
    ['restore', none],
    ['import', 'csv', none, ...nobody],
    [
      'import',
      'cloud',
      '--from',
      'http://127.0.0.1:1',
      '--user',
      'a',
      '--password-file',
      none,
      '--to',
      'http://127.0.0.1:1',
    ],
    ['demo', ...nobody],
    ['usage', ...nobody],
    ['user', 'import', directory],
  ]) {
    const { code, stderr } = await runProgram(words, { directory });
    assert.equal(code, 1, words.join(' '));
    assert.match(stderr, /^kipimo: .*(no such file|no file|is a directory|a file of that name)/);
    assert.doesNotMatch(stderr, /ENOENT|EISDIR|EEXIST/);
  }
  const { code, stderr } = await runProgram(['serve', '--data-dir', process.execPath], {
    directory,
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^kipimo: the data directory \S+ cannot .*: it is a file: name a directory\n$/,
  );
});

test('one set of options for all commands, passwords by file or environment', async () => {
  const { commands } = await import('../../src/cli/commands.ts');
  const flagsOf = async (...path: readonly string[]) => {
    const entry = commands.find(({ name }) => name === path[0]);
    let command = await entry?.load();
    for (const name of path.slice(1)) {
      command = command?.commands.find((one) => one.name() === name);
    }
    return (command?.options ?? []).map(({ long }) => long);
  };
  const login = ['--username', '--password-file', '--password', '--token', '--allow-http'];
  for (const path of [['usage'], ['demo'], ['import', 'csv'], ['import', 'cloud']]) {
    const flags = await flagsOf(...path);
    for (const flag of login) assert.ok(flags.includes(flag), `${path.join(' ')} ${flag}`);
  }
  for (const path of [
    ['user', 'add'],
    ['user', 'passwd'],
  ]) {
    const flags = await flagsOf(...path);
    assert.ok(flags.includes('--password-file') && flags.includes('--password'));
  }
  const seen = await kipimoUser('passwd', 'admin', '--password', 'another one');
  assert.equal(seen.code, 0, seen.stderr);
  assert.match(seen.stderr, /seen by everybody on this machine/);
  const environment = { KIPIMO_PASSWORD: 'another one' };
  const words = ['usage', '--url', service.url, '--username', 'admin'];
  const done = await runProgram(words, { directory, environment });
  assert.equal(done.code, 0, done.stderr);
  const token = await (await logIn('admin', 'another one')).text();
  const byToken = { KIPIMO_TOKEN: token };
  const again = ['usage', '--url', service.url];
  assert.equal((await runProgram(again, { directory, environment: byToken })).code, 0);
});

test('files that a command cannot find are named', async () => {
  const missing = await kipimoUser('import', join(directory, 'none.json'));
  assert.match(missing.stderr, /none\.json: there is no such file or directory/);
  assert.doesNotMatch(missing.stderr, /ENOENT/);
});

embedded(
  'an import with an admin before the first start says that it is the first admin',
  async () => {
    const file = join(directory, 'first.json');
    writeFileSync(file, JSON.stringify([{ username: 'root', password: 'x', admin: true }]));
    const fresh = join(directory, 'fresh');
    mkdirSync(fresh);
    const { code, stdout } = await kipimoUser('import', file, '--data-dir', fresh);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /first start of the service makes no other one/);
    for (const words of [
      ['disable', 'root'],
      ['admin', 'root', '--off'],
    ]) {
      const last = await kipimoUser(...words, '--data-dir', fresh);
      assert.equal(last.code, 1, words.join(' '));
      assert.match(last.stderr, /root is the last admin/);
    }
  },
);
