import { resolve } from 'node:path';
import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { databaseUrl } from '../../src/config/config-kinds.ts';
import { invalid } from '../../src/domain/errors.ts';
import type { StoragePlace } from '../../src/storage/storage.ts';
import { openProgressBar } from '../copy-progress.ts';
import { abortAtStopSignal } from '../stop-signal.ts';
import { type DirectoryOption, knownPlaceOf, placeName } from './data-directory.ts';
import { move } from './open-for-commands.ts';

/** `kipimo move`: everything to the other engine, while no service runs. */
export function createMoveCommand(): Command {
  return new Command('move')
    .description(
      'Move everything from the data directory (KIPIMO_DATA_DIR) or PostgreSQL ' +
        '(KIPIMO_DATABASE_URL) to another place, compare both, and leave what was there as it ' +
        'is. Stop the service first. One that broke off goes on where it was.',
    )
    .requiredOption(
      '--to <place>',
      'postgres://user@host/database, with the password in PGPASSWORD or ~/.pgpass where others ' +
        'may see commands; or a data directory',
    )
    .option(...dataDirOption)
    .action(moveTo);
}

async function moveTo(options: DirectoryOption & { readonly to: string }): Promise<void> {
  const from = knownPlaceOf(options);
  const to = targetOf(options.to);
  const signal = abortAtStopSignal(
    new Error('stopped: what was moved so far stays, and kipimo move goes on from there'),
  );
  const bar = openProgressBar('rows copied and compared');
  const moved = move(from, to, { signal, onProgress: bar.show });
  const { rows, datapoints } = await moved.finally(bar.stop);
  let all = 0;
  for (const count of rows.values()) all += count;
  process.stdout.write(
    `Moved ${all.toLocaleString('en')} rows of ${rows.size} tables, with ` +
      `${datapoints.toLocaleString('en')} datapoints, and compared them: all is equal.\n` +
      `${placeName(from)} is as it was. ${nextStep(to)}\n`,
  );
}

function targetOf(place: string): StoragePlace {
  const url = databaseUrl.parse(place);
  if (url !== undefined) return { kind: 'postgres', url };
  if (/^[a-z]+:/.test(place)) {
    throw invalid('--to must be postgres://user@host/database or the path of a data directory');
  }
  return { kind: 'sqlite', directory: resolve(place) };
}

const nextStep = (to: StoragePlace): string =>
  to.kind === 'postgres'
    ? 'Set KIPIMO_DATABASE_URL to the new place, and start the service.'
    : `Take KIPIMO_DATABASE_URL away, set KIPIMO_DATA_DIR=${to.directory}, and start the service.`;
