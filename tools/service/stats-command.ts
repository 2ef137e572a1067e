import { Command } from 'commander';
import type { ApiClient } from '../client/api-client.ts';
import {
  addServiceOptions,
  asAdmin,
  openService,
  type ServiceOptions,
} from '../client/login-options.ts';
import { table } from '../table.ts';

/** Lists whose totals are shown. */
const lists = ['users', 'devices', 'gateways', 'projects', 'notifications', 'socials'] as const;

/** Values from /metrics, since the start of the service. */
const metrics = [
  ['datapoints stored since the start', 'kipimo_datapoints_stored_total'],
  ['MQTT connections', 'kipimo_mqtt_connections'],
  ['memory in bytes', 'process_resident_memory_bytes'],
  ['started, seconds since 1970', 'process_start_time_seconds'],
] as const;

/** `kipimo stats`: how much a running service has. */
export function createStatsCommand(): Command {
  const command = new Command('stats').description(
    'How much a running service has: accounts, devices and the others, and some figures of ' +
      '/metrics. Asks as an administrator.',
  );
  return addServiceOptions(command, 'an administrator; otherwise admin')
    .option('--json', 'one JSON object')
    .action(show);
}

async function show(options: ServiceOptions & { readonly json?: boolean }): Promise<void> {
  const client = await openService(asAdmin(options));
  const found: [string, number][] = [];
  for (const name of lists) {
    const { total } = await client.need({ method: 'GET', path: `/${name}?limit=1` }, 200);
    if (total !== undefined) found.push([name, total]);
  }
  found.push(...(await readMetrics(client)));
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(Object.fromEntries(found))}\n`);
    return;
  }
  const rows = found.map(([name, value]) => [name, value.toLocaleString('en')]);
  process.stdout.write(`${table([['what', 'how many'], ...rows])}\n`);
}

async function readMetrics(client: ApiClient): Promise<[string, number][]> {
  const { text } = await client.need({ method: 'GET', path: '/metrics', isAtRoot: true }, 200);
  return metrics.flatMap(([label, metric]) => {
    const values = text
      .split('\n')
      .filter((line) => line.startsWith(metric) && /[ {]/.test(line.charAt(metric.length)))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
    if (values.length === 0) return [];
    return [[label, values.reduce((sum, value) => sum + value, 0)] as [string, number]];
  });
}
