import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { printableLines } from '../../src/cli/printable.ts';
import { loadConfigHere } from '../../src/config/environment-file.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type DirectoryOption, knownPlaceOf } from './data-directory.ts';
import { planRetentionOf } from './open-for-commands.ts';
import type { PlannedDevice } from './retention-plan.ts';

/** `kipimo retention`: what would be deleted now, without deleting it. */
export function createRetentionCommand(): Command {
  return new Command('retention')
    .description(
      'Say which datapoints are older than they are to be kept, by device, and delete nothing. ' +
        'Reads the data directory (KIPIMO_DATA_DIR) or PostgreSQL (KIPIMO_DATABASE_URL), also ' +
        'while the service runs, with the settings that are stored there and ' +
        'KIPIMO_RETENTION_RAW_DAYS and KIPIMO_RETENTION_HOURLY_DAYS as they are here. The ' +
        'service deletes by itself, an hour later at most.',
    )
    .option(...dataDirOption)
    .option('--json', 'one JSON object for each device, a line each')
    .action(async (options: DirectoryOption & { readonly json?: boolean }) => {
      const devices = await planRetentionOf(knownPlaceOf(options), {
        now: systemClock.now(),
        ofService: loadConfigHere().config.datapoints.retention,
      });
      process.stdout.write(options.json === true ? linesOf(devices) : reportOf(devices));
    });
}

const linesOf = (devices: readonly PlannedDevice[]): string =>
  devices.map((device) => `${JSON.stringify(device)}\n`).join('');

const count = (number: number): string => number.toLocaleString('en');

function reportOf(devices: readonly PlannedDevice[]): string {
  if (devices.length === 0) return 'Nothing is older than it is to be kept.\n';
  const lines = devices.map(
    ({ owner, device, sensors, datapoints, days }) =>
      `${owner}  ${device}  ${count(datapoints)} datapoints of ${count(sensors)} sensors` +
      (days === 0 ? '' : `, and the hours of ${count(days)} days`),
  );
  const total = devices.reduce((sum, { datapoints }) => sum + datapoints, 0);
  const all = `${count(total)} datapoints of ${count(devices.length)} devices would be deleted.`;
  return `${printableLines([...lines, all].join('\n'))}\n`;
}
