import { Command } from 'commander';
import { dataDirOption } from '../../src/cli/data-dir-option.ts';
import { sentencesOf } from '../../src/cli/failure.ts';
import { printableLines } from '../../src/cli/printable.ts';
import { loadConfigHere } from '../../src/config/environment-file.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type DirectoryOption, knownPlaceOf, placeName } from './data-directory.ts';
import type { Examination } from './examination/chunk-examination.ts';
import { examine, isDamage } from './open-for-commands.ts';

/** Exit codes for monitoring, as its plugins define them. */
const exitCodes = { fine: 0, warning: 1, damage: 2, unknown: 3 } as const;

/** `kipimo doctor`: whether all that is stored is whole, and for how long the disk will do. */
export function createDoctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check what is stored, measure the disk, and say what to do. Reads the data directory ' +
        '(KIPIMO_DATA_DIR) or PostgreSQL (KIPIMO_DATABASE_URL), also while the service runs, a ' +
        'little at a time. Exit code 0: all is well; 1: there are warnings; 2: something is ' +
        'damaged; 3: it could not be looked at.',
    )
    .option(...dataDirOption)
    .option('--json', 'one JSON object')
    .action(examineHere);
}

async function examineHere(options: DirectoryOption & { readonly json?: boolean }): Promise<void> {
  try {
    const place = knownPlaceOf(options);
    const name = placeName(place);
    const examination = await examine(place, {
      now: systemClock.now(),
      floorBytes: loadConfigHere().config.storage.diskFloorBytes,
      syncsMax: 100,
      onStage: (stage) => {
        if (process.stderr.isTTY) process.stderr.write(`${stage} …\n`);
      },
    });
    const level = levelOf(examination);
    process.stdout.write(
      options.json === true
        ? `${JSON.stringify({ level, directory: name, ...examination })}\n`
        : reportOf(name, examination),
    );
    process.exitCode = exitCodes[level];
  } catch (error) {
    for (const sentence of sentencesOf(error)) {
      process.stderr.write(`kipimo: ${printableLines(sentence)}\n`);
    }
    process.exitCode = (await isDamage(error)) ? exitCodes.damage : exitCodes.unknown;
  }
}

function levelOf({ findings }: Examination): 'fine' | 'warning' | 'damage' {
  if (findings.some(({ level }) => level === 'damage')) return 'damage';
  return findings.some(({ level }) => level === 'warning') ? 'warning' : 'fine';
}

function reportOf(name: string, examination: Examination): string {
  const { findings, isInUse } = examination;
  const lines = [
    `${name}, ${isInUse ? 'in use by a service' : 'not in use'}`,
    ...storedLines(examination),
    ...diskLines(examination),
    ...largestLines(examination),
    '',
    ...findings.flatMap(({ level, sentence, remedy }) => [`${level}: ${sentence}`, `  ${remedy}`]),
    ...(findings.length === 0 ? ['All is well.'] : []),
  ];
  return `${printableLines(lines.join('\n'))}\n`;
}

const count = (number: number): string => Math.round(number).toLocaleString('en');

function storedLines({ chunks, datapointsInChunks, logRows, disk }: Examination): string[] {
  const rows = 'freeBytes' in disk ? 'rows of log' : 'rows of pushes that are not in chunks yet';
  return [
    `stored    ${count(datapointsInChunks)} datapoints in ${count(chunks)} chunks, and ` +
      `${count(logRows)} ${rows}`,
  ];
}

function diskLines({ disk, syncs }: Examination): readonly string[] {
  const { databaseBytes, bytesPerDatapoint, datapointsPerDay, bytesPerDay } = disk;
  const database = `database has ${formatBytes(databaseBytes)}`;
  return [
    'freeBytes' in disk
      ? `disk      ${formatBytes(disk.freeBytes)} free of ${formatBytes(disk.totalBytes)}; the ` +
        `${database}, ${formatBytes(disk.freePagesBytes)} of them free, and its write-ahead log ` +
        formatBytes(disk.walBytes)
      : `disk      the ${database}; how much its server has left is not known here`,
    ...(bytesPerDatapoint === undefined
      ? []
      : [
          `growth    ${count(datapointsPerDay)} datapoints a day with ` +
            `${bytesPerDatapoint.toFixed(2)} bytes each: ${formatBytes(bytesPerDay)} a day` +
            ('freeBytes' in disk ? `, ${leftText(disk.daysLeft)}` : ''),
        ]),
    ...(syncs === undefined
      ? []
      : [
          `syncs     ${syncs.medianMs.toFixed(2)} ms, 99 of 100 within ` +
            `${syncs.p99Ms.toFixed(2)} ms: up to ${count(1_000 / syncs.medianMs)} commits a ` +
            'second, each with all that waits then',
        ]),
  ];
}

function leftText(daysLeft: number | undefined): string {
  if (daysLeft === undefined) return 'so the disk will do';
  return daysLeft > 36_500
    ? 'so the disk will do for more than a hundred years'
    : `so the disk is full in ${count(Math.floor(daysLeft))} days`;
}

function largestLines({ largest }: Examination): readonly string[] {
  const lineOf = (title: string, parts: readonly { name: string; bytes: number }[]): string[] =>
    parts.length === 0
      ? []
      : [
          `${title.padEnd(9)} ` +
            parts.map(({ name, bytes }) => `${name} ${formatBytes(bytes)}`).join(', '),
        ];
  return [
    ...lineOf('tables', largest.tables),
    ...lineOf('devices', largest.devices),
    ...lineOf('sensors', largest.sensors),
  ];
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes for people: 1.5 MiB. */
function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
