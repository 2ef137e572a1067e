import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { openProgressBar } from '../copy-progress.ts';
import { asideName, type DirectoryOption, directoryOf } from './data-directory.ts';

/** `kipimo backup`: everything in one file, while the service runs. */
export function createBackupCommand(): Command {
  return new Command('backup')
    .description(
      'Copy the data directory (KIPIMO_DATA_DIR) into one file, also while the service runs. ' +
        'The file holds all secrets of the service: keep it where nobody else reads it.',
    )
    .argument('<file>', 'is made; must not exist')
    .option(...dataDirOption)
    .action(backUpTo);
}

async function backUpTo(file: string, options: DirectoryOption): Promise<void> {
  const directory = directoryOf(options);
  const { backUp } = await import('./sqlite/backup.ts');
  const bar = openProgressBar('pages');
  await backUp({ directory, file: resolve(file), onProgress: bar.show }).finally(bar.stop);
  const mebibytes = (statSync(file).size / 1_048_576).toFixed(1);
  process.stdout.write(`Wrote ${file} (${mebibytes} MiB). Put it back with kipimo restore.\n`);
}

/** `kipimo restore`: puts a backup into an empty data directory. */
export function createRestoreCommand(): Command {
  return new Command('restore')
    .description(
      'Put a backup into the data directory (KIPIMO_DATA_DIR). Stop the service first. Run it as ' +
        'the user of the service.',
    )
    .argument('<file>', 'as kipimo backup wrote it')
    .option(...dataDirOption)
    .option('--force', 'move data that is there into a directory inside of it')
    .action(restoreFrom);
}

async function restoreFrom(
  file: string,
  options: DirectoryOption & { readonly force?: boolean },
): Promise<void> {
  const directory = directoryOf(options);
  const { restoreBackup } = await import('./sqlite/backup.ts');
  const bar = openProgressBar('pages');
  const { movedTo } = await restoreBackup({
    file: resolve(file),
    directory,
    isForced: options.force === true,
    label: asideName('restore'),
    onProgress: bar.show,
  }).finally(bar.stop);
  if (movedTo !== undefined) process.stdout.write(`What was there is in ${movedTo}.\n`);
  process.stdout.write(`Restored ${directory}. Start the service with kipimo serve.\n`);
}
