// In a process of its own: it starts a server of PostgreSQL.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { noPostgres } from '../postgres-schemas.ts';
import { findPostgres, startPostgres } from '../postgres-server.ts';
import { startService } from '../service.ts';
import { startProcess } from '../service-process.ts';
import { repositoryRoot } from '../source-files.ts';
import { fences, isThere } from './guide-fences.ts';

const directory = temporaryDirectory({ after });
const run = promisify(execFile);
const password = 'admin-password-1';

async function logIn(url: string): Promise<number> {
  const reply = await fetch(`${url}/api/v2/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  });
  return reply.status;
}

test('what pg_dump saves is a service again in a new database', { skip: noPostgres }, async () => {
  await using stack = new AsyncDisposableStack();
  const server = await startPostgres();
  stack.defer(() => server.close());
  const environment = (url: string) => ({ KIPIMO_DATABASE_URL: url });
  const first = { ...environment(server.url), KIPIMO_ADMIN_PASSWORD: password };
  const before = await startProcess({ directory, environment: first });
  assert.equal(await logIn(before.url), 200);
  const { hostname, port } = new URL(server.url);
  const commands = fences('pg-dump', 'sh')
    .join('')
    .replaceAll('/backup/', `${directory}/`)
    .replace('kipimo@localhost', `kipimo@${hostname}:${port}`);
  const PATH = `${findPostgres()}:${process.env['PATH']}`;
  const place = { PGHOST: hostname, PGPORT: port, PGUSER: 'kipimo' };
  await run('sh', ['-ec', commands], { env: { PATH, ...place, ...environment(server.url) } });
  await before[Symbol.asyncDispose]();
  const restored = server.url.replace(/\/[^/]*$/, '/kipimo_new');
  await using again = await startProcess({ directory, environment: environment(restored) });
  assert.equal(await logIn(again.url), 200);
  assert.doesNotMatch(again.output(), /made the administrator/i);
});

embedded('the line for cron leaves one whole backup for the day', async () => {
  const line = fences('backup', 'crontab')[0] ?? '';
  assert.match(line, /^30 2 \* \* \* /);
  // Cron takes a % for the end of the line, unless it is escaped.
  assert.doesNotMatch(line, /[^\\]%/);
  const service = await startProcess({ directory });
  await service[Symbol.asyncDispose]();
  const command = line
    .slice('30 2 * * * '.length)
    .replaceAll('\\%', '%')
    .replaceAll('/backup/', `${directory}/`)
    .replaceAll('/var/lib/kipimo', directory);
  const program = `kipimo() { "$NODE" "$MAIN" "$@"; }\n${command}`;
  const MAIN = join(repositoryRoot, 'src', 'main.ts');
  const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN };
  for (const _ of [1, 2]) await run('sh', ['-ec', program], { env });
  const { stdout } = await run('sh', ['-c', `ls ${directory}/kipimo-*`]);
  assert.match(stdout, /^\S+\/kipimo-\w{3}\.kipimo\n$/);
});

test('Prometheus takes the settings and the rules, and the service has what these ask for', {
  skip: isThere('promtool') ? false : 'needs promtool',
}, async () => {
  const [settings = '', rules = ''] = fences('prometheus', 'yaml');
  const key = join(directory, 'kipimo.key');
  writeFileSync(key, 'kpk_x');
  writeFileSync(join(directory, 'kipimo-rules.yml'), rules);
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, settings.replace('/etc/prometheus/kipimo.key', key));
  assert.match((await run('promtool', ['check', 'config', file])).stdout, /6 rules found/);
});

test('every figure that a rule for Prometheus asks for is one of the service', async () => {
  await using service = await startService();
  const headers = { authorization: `Bearer ${await service.tokenOf('admin')}` };
  const text = await (await fetch(new URL('/metrics', service.url), { headers })).text();
  const names = (fences('prometheus', 'yaml')[1] ?? '').match(/kipimo_\w+/g) ?? [];
  assert.ok(names.length >= 6);
  for (const name of names) assert.ok(text.includes(`# TYPE ${name} `), name);
});
