import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { createApiClient } from './client/api-client.ts';
import { allowHttpOption, type LoginOptions, logInAs } from './client/login-options.ts';
import { openProgressBar } from './copy-progress.ts';
import { importCsv } from './import/csv-import.ts';
import { importLimits } from './import/import-limits.ts';
import { createCloudCommand } from './import-cloud.ts';
import { printable } from './printable.ts';

interface CsvOptions extends LoginOptions {
  readonly url: string;
  readonly device?: string;
  readonly sensor?: string;
  readonly create?: boolean;
}

/** `kipimo import`: data from elsewhere into a running service. */
export function createImportCommand(): Command {
  const command = new Command('import').description('Bring data into a running service.');
  command
    .command('csv <file>')
    .description(
      'Push the rows of a CSV: timestamp,value with or without a line that names the columns, ' +
        'or what a read or an export answers. Run it again after a stop: rows with a timestamp ' +
        'are stored once. Exit code 1 when any row is refused.',
    )
    .option('--url <url>', 'where the service is', 'http://127.0.0.1:8080')
    .option('--device <id>', 'for all rows; otherwise by the column device_id')
    .option('--sensor <id>', 'for all rows; otherwise by the column sensor_id')
    .option('--create', 'make devices and sensors that are not there')
    .option('--username <name>', 'log in as this user; otherwise as a guest')
    .option('--password-file <file>', 'has the password of that user; otherwise it is asked for')
    .option('--password <text>', 'the password itself, for everybody on this machine to see')
    .option('--token <text>', 'a token, or better an access key, which does not expire')
    .option(...allowHttpOption)
    .action(runCsv);
  command.addCommand(createCloudCommand());
  return command;
}

async function runCsv(file: string, options: CsvOptions): Promise<void> {
  const { url, device, sensor } = options;
  const { signal } = new AbortController();
  const client = createApiClient({
    url,
    signal,
    wait: (delayMs) => delay(delayMs),
    isImporting: true,
  });
  await logInAs(client, options);
  const bar = openProgressBar('bytes');
  let shown = 0;
  const { stored, refused, devicesMade } = await importCsv(
    {
      file,
      isCreating: options.create === true,
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
  ).finally(() => bar.stop());
  process.stdout.write(`${stored} rows are stored, ${refused} were refused.\n`);
  if (devicesMade > 0) {
    const privacy = options.username === undefined && options.token === undefined;
    process.stdout.write(
      `Devices made: ${devicesMade}, ${privacy ? 'public, as a guest made them' : 'private'}.\n`,
    );
  }
  if (refused > 0) process.exitCode = 1;
}
