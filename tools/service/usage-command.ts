import { Command } from 'commander';
import { printable } from '../../src/cli/printable.ts';
import type { BudgetReport } from '../../src/domain/budgets/budgets.ts';
import { invalid } from '../../src/domain/errors.ts';
import {
  addServiceOptions,
  asAdmin,
  openService,
  type ServiceOptions,
} from '../client/login-options.ts';
import { printableJson } from '../printable-json.ts';
import { table } from '../table.ts';

interface UsageOptions extends ServiceOptions {
  readonly json?: boolean;
}

/** `kipimo usage`: what is used of every budget of a running service, and by whom most. */
export function createUsageCommand(): Command {
  const command = new Command('usage').description(
    'What is used of every budget of a running service, and who uses the most. Asks as an ' +
      'administrator; budgets are explained in docs/limits.md.',
  );
  return addServiceOptions(command, 'an administrator; otherwise admin')
    .option('--json', 'the answer of the service as it is')
    .action(showUsage);
}

async function showUsage(options: UsageOptions): Promise<void> {
  const client = await openService(asAdmin(options));
  const { json } = await client.need({ method: 'GET', path: '/admin/usage' }, 200);
  if (options.json === true) process.stdout.write(`${printableJson(json)}\n`);
  else process.stdout.write(`${table([head, ...rowsOf(json)])}\n`);
}

const head = ['budget', 'used', 'of', 'guests', 'refused', 'who uses the most'];
const namesShown = 3;

function rowsOf(json: unknown): readonly (readonly string[])[] {
  if (!Array.isArray(json)) throw invalid('this is no Kipimo that tells what is used');
  // The service is of this version or a newer one, whose reports have these fields.
  return (json as readonly BudgetReport[]).map((report) => [
    printable(report.name),
    amount(report.used, report),
    amount(report.total, report),
    amount(report.guests, report),
    String(report.refusals),
    report.largest
      .slice(0, namesShown)
      .map(({ username, who, used }) => `${printable(username ?? who)} ${amount(used, report)}`)
      .join(', '),
  ]);
}

function amount(value: number, { unit }: BudgetReport): string {
  return unit === 'bytes' ? `${(value / 1_048_576).toFixed(1)} MiB` : value.toLocaleString('en');
}
