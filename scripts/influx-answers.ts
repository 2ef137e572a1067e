/** Asks Debian's influxd what it makes of line protocol, and keeps its answers for the tests. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type JsonValue, parseJson } from '../src/lib/json.ts';
import { freePort } from '../tools/bench/free-port.ts';

/** A body as it was written, and what influxd answered and kept of it. */
interface Answer {
  readonly body: string;
  readonly status: number;
  /** One entry for each point, in the order of its text; the time absent where none was given. */
  readonly points: readonly (readonly [string, Record<string, string>, Record<string, unknown>])[];
}

interface Series {
  readonly name: string;
  readonly tags?: Record<string, string>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly JsonValue[])[];
}

const answersFile = 'test/compatible/influx-answers.json';
const startMsMax = 20_000;

await using influx = await startInflux();
const known = JSON.parse(readFileSync(answersFile, 'utf8')) as { readonly body: string }[];
const answers: Answer[] = [];
for (const [index, { body }] of known.entries()) answers.push(await ask(body, `c${index}`));
const lines = answers.map((answer) => `  ${JSON.stringify(answer)}`);
writeFileSync(answersFile, `[\n${lines.join(',\n')}\n]\n`);
process.stdout.write(`${answers.length} answers of ${influx.version}\n`);

async function ask(body: string, database: string): Promise<Answer> {
  await query(`CREATE DATABASE ${database}`);
  const address = `${influx.url}/write?db=${database}`;
  const status = await post(address, body);
  const found = await query('SELECT * FROM /.*/ GROUP BY *', database);
  const [result] = found.results;
  const points = (result?.series ?? []).flatMap(({ name, tags = {}, columns, values }) =>
    values.map(([time, ...row]) => {
      const fields = columns.slice(1).map((column, at) => [column, row[at]] as const);
      const held = Object.fromEntries(fields.filter(([, value]) => value !== null));
      // Who gave no time has that of the server.
      const isNow = Math.abs(Number(JSON.stringify(time)) / 1e6 - Date.now()) < 600_000;
      return [name, tags, held, ...(isNow ? [] : [String(JSON.stringify(time))])] as const;
    }),
  );
  const sorted = points.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { body, status, points: sorted as unknown as Answer['points'] };
}

/** The status of a POST; influxd repeats in a header what it cannot read, whatever it is. */
function post(address: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: 'POST', insecureHTTPParser: true }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
    });
    sent.on('error', reject).end(Buffer.from(body));
  });
}

async function query(q: string, db = ''): Promise<{ readonly results: { series?: Series[] }[] }> {
  const address = `${influx.url}/query?${new URLSearchParams({ db, q, epoch: 'ns' })}`;
  const reply = await fetch(address, { method: 'POST' });
  return parseJson(await reply.text()) as never;
}

/** Starts one of its own, on free ports and with its data in a temporary directory. */
async function startInflux() {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-influx-'));
  const [http, rpc] = [await freePort(), await freePort()];
  const settings = [
    'reporting-disabled = true',
    `bind-address = "127.0.0.1:${rpc}"`,
    `[meta]\ndir = "${directory}/meta"`,
    `[data]\ndir = "${directory}/data"\nwal-dir = "${directory}/wal"`,
    `[http]\nbind-address = "127.0.0.1:${http}"\nlog-enabled = false`,
  ];
  const file = join(directory, 'influxdb.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  const child = spawn('influxd', ['run', '-config', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${http}`;
  const until = performance.now() + startMsMax;
  while (
    !(await fetch(`${url}/ping`)
      .then(() => true)
      .catch(() => false))
  ) {
    if (performance.now() > until) throw new Error('influxd does not start');
    await wait(50);
  }
  return {
    url,
    version: spawnSync('influxd', ['version']).stdout.toString().trim(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
