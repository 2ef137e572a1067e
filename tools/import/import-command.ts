import { Command } from 'commander';
import { printable } from '../../src/cli/printable.ts';
import { readTimeZone } from '../../src/wire/datapoint.ts';
import {
  addServiceOptions,
  openService,
  type ServiceOptions,
  tokenOf,
} from '../client/login-options.ts';
import { createCloudCommand } from '../cloud/cloud-command.ts';
import { openProgressBar } from '../copy-progress.ts';
import { importCsv } from './csv-import.ts';
import { importLimits } from './import-limits.ts';

interface CsvOptions extends ServiceOptions {
  readonly device?: string;
  readonly sensor?: string;
  readonly create?: boolean;
  readonly timezone?: string;
}

/** `kipimo import`: data from elsewhere into a running service; `cloud` copies another cloud. */
export function createImportCommand(archive: Command): Command {
  const command = new Command('import').description(
    'Take in an export of kipimo; or bring a CSV, or all that another cloud shows, into a ' +
      'running service.',
  );
  const csv = command
    .command('csv <file>')
    .description(
      'Push the rows of a CSV: timestamp,value with or without a line that names the columns, ' +
        'or what a read or an export answers, in UTF-8, UTF-16 or Windows-1252. Run it again ' +
        'after a stop: rows with a timestamp are stored once. Exit code 1 when any row is refused.',
    );
  addServiceOptions(csv)
    .option('--device <id>', 'for all rows; otherwise by the column device_id')
    .option('--sensor <id>', 'for all rows; otherwise by the column sensor_id')
    .option('--timezone <name>', 'of times without an offset, such as Africa/Nairobi; else UTC')
    .option('--create', 'make devices and sensors that are not there')
    .action(runCsv);
  command.addCommand(createCloudCommand());
  command.addCommand(archive, { isDefault: true });
  return command;
}

async function runCsv(file: string, options: CsvOptions): Promise<void> {
  const { device, sensor } = options;
  const zone = options.timezone === undefined ? undefined : readTimeZone(options.timezone);
  const client = await openService(options, true);
  const bar = openProgressBar('bytes');
  let shown = 0;
  const { stored, refused, devicesMade } = await importCsv(
    {
      file,
      isCreating: options.create === true,
      zone,
      ...(device !== undefined && { deviceId: device }),
      ...(sensor !== undefined && { sensorId: sensor }),
    },
    client,
    {
      onProgress: bar.show,
      onRefused(line, reason) {
        shown += 1;
        if (shown <= importLimits.refusalsShown) {
          process.stderr.write(`kipimo: line ${line}: ${printable(reason)}\n`);
        }
      },
    },
  ).finally(bar.stop);
  process.stdout.write(`${stored} rows are stored, ${refused} were refused.\n`);
  if (devicesMade > 0) {
    const privacy = options.username === undefined && tokenOf(options) === undefined;
    process.stdout.write(
      `Devices made: ${devicesMade}, ${privacy ? 'public, as a guest made them' : 'private'}.\n`,
    );
  }
  if (refused > 0) process.exitCode = 1;
}
