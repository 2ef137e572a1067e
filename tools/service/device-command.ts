import { Command } from 'commander';
import { printable } from '../../src/cli/printable.ts';
import { textField } from '../client/api-client.ts';
import { addServiceOptions, openService, type ServiceOptions } from '../client/login-options.ts';
import { printableJson } from '../printable-json.ts';
import { table } from '../table.ts';

/** Devices in one answer of the service. */
const pageSize = 1_000;

interface ListOptions extends ServiceOptions {
  readonly q?: string;
  readonly json?: boolean;
}

/** `kipimo device`: the devices of a running service. */
export function createDeviceCommand(): Command {
  const device = new Command('device').description('The devices of a running service.');
  addServiceOptions(device.command('list'))
    .description('List the devices that you may see, in order of creation.')
    .option('--q <filter>', 'those that match: docs/query-language.md')
    .option('--json', 'one JSON object per line, as the service answers it')
    .action(list);
  return device;
}

async function list(options: ListOptions): Promise<void> {
  const client = await openService(options);
  const rows: string[][] = [];
  for (let offset = 0; ; offset += pageSize) {
    const query = new URLSearchParams({ limit: String(pageSize), offset: String(offset) });
    if (options.q !== undefined) query.set('q', options.q);
    const { json } = await client.need({ method: 'GET', path: `/devices?${query}` }, 200);
    const page = Array.isArray(json) ? json : [];
    for (const device of page) {
      if (options.json === true) process.stdout.write(`${printableJson(device)}\n`);
      else rows.push(rowOf(device));
    }
    if (page.length < pageSize) break;
  }
  if (options.json === true) return;
  const head = ['device', 'name', 'owner', 'visibility', 'sensors'];
  process.stdout.write(`${table([head, ...rows])}\n`);
}

function rowOf(device: unknown): string[] {
  const field = (name: string) => printable(textField(device, name) ?? '');
  const sensors = (device as { readonly sensors?: readonly unknown[] }).sensors?.length ?? 0;
  const visibility = field('visibility') || 'public';
  return [field('id'), field('name'), field('owner'), visibility, String(sensors)];
}
