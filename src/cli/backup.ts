import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { openProgressBar } from './copy-progress.ts';
import { type DirectoryOption, dataDirOption, directoryOf } from './data-directory.ts';

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
  const { backUp } = await import('../storage/sqlite/backup.ts');
  const bar = openProgressBar('pages');
  await backUp({ directory, file: resolve(file), onProgress: bar.show }).finally(bar.stop);
  const mebibytes = (statSync(file).size / 1_048_576).toFixed(1);
  process.stdout.write(`Wrote ${file} (${mebibytes} MiB). Put it back with kipimo restore.\n`);
}
