// Measures POST /sensors_data against a service started here, from a second process' point of view:
// node bench/bulk.ts [points, default 2 000 000] [points per request, default 5 000]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { formatTimestamp } from '../src/lib/timestamp.ts';

const root = resolve(import.meta.dirname, '..');
const pointsTotal = Number(process.argv[2] ?? 2_000_000);
const pointsPerRequest = Number(process.argv[3] ?? 5_000);
const isLines = process.argv[4] !== 'array';
const devices = 50;
const sensorsPerDevice = 4;
const requestsInFlight = 4;
const startAt = Date.parse('2020-01-01T00:00:00Z');
const agent = new Agent({ keepAlive: true, maxSockets: requestsInFlight });

interface Answer {
  readonly status: number;
  readonly text: string;
}

function send(url: string, body: string, type: string): Promise<Answer> {
  return new Promise((resolveAnswer, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolveAnswer({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The points of one request: sensors take turns, each of them in order of time. */
function bodyOf(first: number): string {
  const lines: string[] = [];
  for (let point = first; point < first + pointsPerRequest; point += 1) {
    const device = point % devices;
    const sensor = Math.floor(point / devices) % sensorsPerDevice;
    const at = formatTimestamp(startAt + Math.floor(point / devices / sensorsPerDevice) * 60_000);
    const value = 20 + (point % 97) / 10;
    lines.push(
      `{"device_id":"bench-${device}","sensor_id":"S${sensor}","value":${value.toFixed(1)},` +
        `"timestamp":"${at}"}`,
    );
  }
  return isLines ? `${lines.join('\n')}\n` : `[${lines.join(',')}]`;
}

async function prepare(url: string): Promise<void> {
  for (let device = 0; device < devices; device += 1) {
    const sensors = Array.from({ length: sensorsPerDevice }, (_, n) => ({ id: `S${n}` }));
    const json = JSON.stringify({ id: `bench-${device}`, sensors });
    const { status, text } = await send(`${url}/devices`, json, 'application/json');
    if (status !== 204) throw new Error(text);
  }
}

function memoryMebibytes(pid: number): number {
  const [, kibibytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1_024);
}

async function load(url: string, pid: number): Promise<void> {
  let next = 0;
  let stored = 0;
  let spentOnBodies = 0;
  const tenth = pointsTotal / 10;
  const startedAt = performance.now();
  const one = async (): Promise<void> => {
    while (next < pointsTotal) {
      const first = next;
      next += pointsPerRequest;
      const madeAt = performance.now();
      const body = bodyOf(first);
      spentOnBodies += performance.now() - madeAt;
      const type = isLines ? 'application/x-ndjson' : 'application/json';
      const { status, text } = await send(`${url}/sensors_data`, body, type);
      if (status !== 200) throw new Error(text);
      const before = stored;
      stored += (JSON.parse(text) as { stored: number }).stored;
      if (Math.floor(before / tenth) === Math.floor(stored / tenth)) continue;
      const seconds = (performance.now() - startedAt) / 1_000;
      const rate = Math.round(stored / seconds).toLocaleString('en');
      console.log(`${stored} points, ${rate} points/s, ${memoryMebibytes(pid)} MiB`);
    }
  };
  await Promise.all(Array.from({ length: requestsInFlight }, one));
  const seconds = (performance.now() - startedAt) / 1_000;
  const share = Math.round(spentOnBodies / seconds / 10);
  console.log(`${Math.round(pointsTotal / seconds).toLocaleString('en')} points/s in all`);
  console.log(`${share} % of the time went into making the bodies`);
}

const directory = mkdtempSync(join(tmpdir(), 'kipimo-bulk-'));
const flags = process.env['BULK_NODE_FLAGS']?.split(' ') ?? [];
const service = spawn(process.execPath, [...flags, 'src/main.ts', 'serve'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    ...process.env,
    KIPIMO_HOST: '127.0.0.1',
    KIPIMO_HTTP_PORT: '18480',
    KIPIMO_MQTT_PORT: '18481',
    KIPIMO_DATA_DIR: directory,
  },
});
try {
  for await (const text of service.stdout) if (String(text).includes('listening')) break;
  const url = 'http://127.0.0.1:18480/api/v2';
  await prepare(url);
  await load(url, service.pid ?? 0);
} finally {
  const ended = new Promise((resolveEnd) => service.once('exit', resolveEnd));
  service.kill('SIGTERM');
  await ended;
  agent.destroy();
  rmSync(directory, { recursive: true, force: true });
}
