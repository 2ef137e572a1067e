import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { embedded } from '../engine.ts';
import { createCall } from '../service.ts';
import { startProcess } from '../service-process.ts';
import { repositoryRoot } from '../source-files.ts';

const password = 'bamboo-4711';
const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Fewer blocks than these are not run: a new one comes with a reason, and is counted here. */
const leftOutMax = 13;

/** A fence of commands in a page. */
interface Block {
  readonly page: string;
  readonly line: number;
  readonly commands: string;
  /** Why it cannot run here, as the page's source says. */
  readonly notRun?: string;
}

const pages = globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'dashboard/*.md'], {
  cwd: repositoryRoot,
}).sort();

const fence = /^ *```(.*)$/;
const firstWord = /^\s*(?:[A-Z_]+=\S+\s+)*(curl|kipimo|npm|npx|mosquitto_\w+|docker|node|git)\b/;
const reason = /^ *<!-- not run: (.+) -->$/;

function blocksOf(page: string): readonly Block[] {
  const found: Block[] = [];
  const lines = readFileSync(join(repositoryRoot, page), 'utf8').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const language = fence.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const start = at + 1;
    do at += 1;
    while (at < lines.length && !fence.test(lines[at] ?? ''));
    const commands = lines.slice(start, at);
    const isShell = ['sh', 'bash'].includes(language);
    if (!isShell && !(language === '' && commands.some((text) => firstWord.test(text)))) continue;
    const notRun = reason.exec(lines[start - 2] ?? '')?.[1];
    found.push({
      ...{ page, line: start, commands: commands.join('\n') },
      ...(notRun !== undefined && { notRun }),
    });
  }
  return found;
}

const blocks = pages.flatMap(blocksOf);

/** Around the reader's commands: where the service is, and who keeps an eye on the answers. */
const surroundings = `set -eu
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
curl() { command curl --silent --show-error --write-out '%{stderr}\\nstatus %{http_code}\\n' "$@"; }
mosquitto_sub() { command timeout 10 mosquitto_sub -p "$MQTT_PORT" "$@"; }
mosquitto_pub() { command mosquitto_pub -p "$MQTT_PORT" "$@"; }
program() { "$NODE" "$MAIN" "$@" </dev/null; }
kipimo() {
  case "$*" in
    serve*) timeout --signal TERM 5 "$NODE" "$MAIN" "$@" || true ;;
    'restore'*'--data-dir'*) program "$@" ;;
    compact*) KIPIMO_DATA_DIR="$PWD/stopped" program "$@" ;;
    restore*) KIPIMO_DATA_DIR="$PWD/stopped" program "$@" ;;
    'import csv'*|stats*|usage*|device*) program "$@" --url "$URL" ;;
    'import cloud'*'--to '*) program "$@" ;;
    'import cloud'*) program "$@" --to "$URL" ;;
    *) program "$@" ;;
  esac
}
`;

/** Pages that make their own accounts. */
const ownAccounts: readonly string[] = ['README.md', 'docs/operating.md'];
/** Answers other than success that a page means to show. */
const meant: Readonly<Record<string, readonly string[]>> = { 'README.md': ['403'] };

/** What the pages take for granted: ama, her things, and keys; answers what stands for an …. */
async function makeWorld(url: string) {
  const call = createCall(url);
  await call({ method: 'POST', path: '/users', json: { username: 'ama', password } });
  const login = { method: 'POST', path: '/auth/token', json: { username: 'ama', password } };
  const token = (await call(login)).text;
  const make = async (path: string, json: unknown, by: string | undefined = token) => {
    const reply = await call({ method: 'POST', path, json, ...(by !== '' && { token: by }) });
    assert.ok(reply.status < 300, reply.text);
    return reply.json as { readonly key: string };
  };
  const sensors = [{ id: 'TC1' }, { id: 'SM1' }];
  for (const id of ['field-7', 'cold-store', 'well']) {
    const actuators = [{ id: id === 'field-7' ? 'pump' : 'fan' }];
    await make('/devices', {
      id,
      visibility: id === 'field-7' ? 'public' : 'private',
      sensors,
      actuators,
    });
  }
  await make('/devices/field-7/sensors/TC1/value', { value: 21.5 });
  await make('/devices', { id: 'tank', sensors: [{ id: 'level' }] }, '');
  const narrow = (await make('/auth/keys', { name: 'well', devices: ['well'] })).key;
  const wide = (await make('/auth/keys', { name: 'all' })).key;
  return { token, narrow, wide };
}

const files: Readonly<Record<string, string>> = {
  'accounts.json': JSON.stringify([{ username: 'esi', password: 'cassava-0815' }]),
  'people.json': JSON.stringify([{ username: 'yaw', password: 'cassava-0815' }]),
  'year.csv': '2026-01-01T00:00:00Z,1\n2026-01-02T00:00:00Z,2\n',
  'pond.csv': 'device_id,sensor_id,timestamp,value\npond-2,TC1,2026-01-01T00:00:00Z,1\n',
  'old.txt': password,
  'new.txt': password,
};

async function runPage(page: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'kipimo-pages-'));
  const directory = join(root, 'data');
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const environment = { KIPIMO_ADMIN_PASSWORD: password };
  try {
    await using service = await startProcess({ directory, environment });
    const hasOwn = ownAccounts.includes(page);
    const world = hasOwn ? { token: '', narrow: '', wide: '' } : await makeWorld(service.url);
    const script = blocks
      .filter((block) => block.page === page && block.notRun === undefined)
      .map(({ commands, line }) => `echo 'line ${line}' >&2\n${adapted(commands)}`)
      .join('\n');
    function adapted(commands: string): string {
      const key = /\/update/.test(commands) ? world.narrow : world.wide;
      return commands
        .replaceAll(/https?:\/\/(localhost:8080|127\.0\.0\.1:8080|api\.example\.org)/g, service.url)
        .replaceAll('"password": "…"', `"password": "${password}"`)
        .replaceAll(/kpk_…|(?<=--token )…/g, key)
        .replaceAll('/backup/', `${root}/`)
        .replaceAll('/tmp/try', `${root}/try`)
        .replaceAll(/KIPIMO_(HTTP|MQTTS?)_PORT=\d+/g, 'KIPIMO_$1_PORT=0');
    }
    const { stderr } = await promisify(execFile)('bash', ['-c', surroundings + script], {
      cwd: root,
      timeout: 150_000,
      env: {
        ...{ PATH: process.env['PATH'], HOME: root, NODE: process.execPath, MAIN: mainFile },
        ...{ URL: service.url, MQTT_PORT: new URL(service.mqttUrl).port, TOKEN: world.token },
        ...{ KIPIMO_DATA_DIR: directory, KIPIMO_HOST: '127.0.0.1', KIPIMO_PASSWORD: password },
        ...{ KIPIMO_TO_PASSWORD: password, KIPIMO_HTTP_PORT: '0', KIPIMO_MQTT_PORT: '0' },
      },
    });
    const statuses = [...stderr.matchAll(/^status (\d{3})$/gm)].map(([, status]) => status);
    const others = statuses.filter((status) => !/^(2\d\d|304)$/.test(status ?? ''));
    assert.deepEqual(others, meant[page] ?? [], stderr);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

for (const page of new Set(
  blocks.filter(({ notRun }) => notRun === undefined).map((b) => b.page),
)) {
  embedded(`the commands of ${page} can be pasted and do what they say`, () => runPage(page));
}

test('a second service that a page starts has a port of its own for each that is open', () => {
  const seconds = blocks
    .flatMap(({ commands }) => commands.split('\n'))
    .filter((line) => /KIPIMO_HTTP_PORT=.*kipimo serve/.test(line));
  assert.ok(seconds.length > 0);
  for (const line of seconds) assert.match(line, /KIPIMO_MQTT_PORT=.*KIPIMO_MQTTS_PORT=/);
});

test('what of the pages does not run says why, and is counted', () => {
  const leftOut = blocks.filter(({ notRun }) => notRun !== undefined);
  assert.ok(leftOut.length <= leftOutMax, JSON.stringify(leftOut, null, 1));
  assert.ok(blocks.length - leftOut.length >= 20, `${blocks.length} blocks were found`);
});
