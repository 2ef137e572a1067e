import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { type DirectoryOption, knownDirectoryOf } from './data-directory.ts';

/** `kipimo compact`: the database written anew, without what is free in it. */
export function createCompactCommand(): Command {
  return new Command('compact')
    .description(
      'Write the database of the data directory (KIPIMO_DATA_DIR) anew, as small as it can be, ' +
        'and put the new file in its place. Stop the service first; the disk must have room for ' +
        'both. Ended half-way, the old file stays. Run it as the user of the service.',
    )
    .option(...dataDirOption)
    .option('--json', 'one JSON object: bytesBefore, freeBefore, bytesAfter')
    .action(compactHere);
}

async function compactHere(options: DirectoryOption & { readonly json?: boolean }): Promise<void> {
  const directory = knownDirectoryOf(options);
  const { compact } = await import('./sqlite/compaction.ts');
  if (process.stderr.isTTY) process.stderr.write(`Writing the database of ${directory} anew …\n`);
  const done = compact(directory);
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(done)}\n`);
    return;
  }
  const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const { bytesBefore, freeBefore, bytesAfter } = done;
  process.stdout.write(
    `The database had ${mebibytes(bytesBefore)}, ${mebibytes(freeBefore)} of them free; ` +
      `now it has ${mebibytes(bytesAfter)}.\n`,
  );
}
