import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { invalid } from '../../src/domain/errors.ts';
import { openProgressBar } from '../copy-progress.ts';
import { abortAtStopSignal } from '../stop-signal.ts';
import { requireUser } from './account-work.ts';
import {
  asideName,
  type DirectoryOption,
  knownDirectoryOf,
  requireDirectory,
  withStorage,
} from './data-directory.ts';
import { readExport, writeExport } from './export/export-file.ts';
import { countLine, countsText, type ExportRecord } from './export/export-format.ts';
import { exportLines } from './export/exporter.ts';
import { importLines } from './export/importer.ts';
import { copyData } from './sqlite/backup.ts';

/** `kipimo export`: everything, or one account, in one file that any version can read. */
export function createExportCommand(): Command {
  return new Command('export')
    .description(
      'Write all accounts, or one, with everything they have into one file: devices with all ' +
        'their values, gateways, projects, groups, rights, keys (as hashes), alerts, messages. ' +
        'kipimo import takes it in again. The service may run; a copy needs room on the disk.',
    )
    .argument('<file>', 'is made; must not exist. JSON lines in gzip: docs/export-format.md')
    .option('--account <name>', 'this account alone')
    .option(...dataDirOption)
    .action(exportTo);
}

/** `kipimo import <file>`: what `kipimo export` wrote; all of it or nothing. */
export function createArchiveCommand(): Command {
  return new Command('archive')
    .description(
      'Take in what kipimo export wrote: all of it, or nothing. Stop the service first. What is ' +
        'there already is never replaced.',
    )
    .argument('<file>', 'as kipimo export wrote it')
    .option(...dataDirOption)
    .action(importFrom);
}

async function exportTo(
  file: string,
  options: DirectoryOption & { readonly account?: string },
): Promise<void> {
  const directory = knownDirectoryOf(options);
  if (existsSync(file)) throw invalid(`${file} exists: choose another name, or delete it`);
  const signal = stopSignal();
  using copy = await copyOf(directory, { isLocked: false, signal });
  const counts = new Map<string, number>();
  await withStorage({ kind: 'sqlite', directory: copy.directory }, async (storage) => {
    const { account } = options;
    const user = account === undefined ? undefined : await requireUser(storage.users, account);
    await writeExport(
      resolve(file),
      whileWanted(counted(exportLines(storage, user?.username), counts), signal),
    );
  });
  process.stdout.write(`Wrote ${file}: ${countsText(counts)}.\n`);
}

async function* counted(
  lines: AsyncIterable<ExportRecord>,
  counts: Map<string, number>,
): AsyncGenerator<ExportRecord> {
  for await (const line of lines) {
    countLine(counts, line);
    yield line;
  }
}

async function importFrom(file: string, options: DirectoryOption): Promise<void> {
  const directory = requireDirectory(options);
  const signal = stopSignal();
  using copy = await copyOf(directory, { isLocked: true, signal });
  const { counts, leftOut } = await withStorage(
    { kind: 'sqlite', directory: copy.directory },
    (storage) => importLines(storage, whileWanted(readExport(file), signal)),
  );
  signal.throwIfAborted();
  const aside = copy.replace(asideName('import'));
  process.stdout.write(`Took in ${countsText(counts)}.\n`);
  if (leftOut > 0) {
    process.stdout.write(`${leftOut} rights, members or messages were left out: of nobody here.\n`);
  }
  if (aside !== undefined) process.stdout.write(`What was there is in ${aside}.\n`);
}

/** The copy of the data is deleted on the way out, so a signal to stop is an error. */
const stopSignal = () => abortAtStopSignal(new Error('stopped: nothing was changed'));

async function* whileWanted(
  lines: AsyncIterable<ExportRecord>,
  signal: AbortSignal,
): AsyncGenerator<ExportRecord> {
  for await (const line of lines) {
    signal.throwIfAborted();
    yield line;
  }
}

async function copyOf(
  directory: string,
  { isLocked, signal }: { readonly isLocked: boolean; readonly signal: AbortSignal },
) {
  const bar = openProgressBar('pages');
  const onProgress = (done: number, total: number): void => {
    signal.throwIfAborted();
    bar.show(done, total);
  };
  return await copyData(directory, { isLocked, onProgress }).finally(bar.stop);
}
