import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Clock } from '../../src/lib/clock.ts';
import { isRecord } from '../../src/lib/record.ts';
import { createKeyedSequence } from '../../src/lib/scheduling/payer-queues.ts';
import { cloudLimits } from './cloud-limits.ts';
import type { Position } from './value-reader.ts';

/** How far the values of one sensor are copied: all before the position are on disk. */
export interface Checkpoint extends Position {
  /** The timestamp of one of the last that were copied, to see whether it is still there. */
  readonly seen: string;
}

/** What an interrupted copy remembers; losing it costs time, nothing else. */
export interface ProgressFile {
  find(sensor: string): Checkpoint | undefined;
  /** Written now and then. */
  set(sensor: string, checkpoint: Checkpoint): Promise<void>;
  save(): Promise<void>;
  /** The copy is complete. */
  remove(): Promise<void>;
}

/** Opens the file; one of another copy, or one that cannot be read, counts as empty. */
export async function openProgressFile(options: {
  readonly file: string;
  /** What is copied from where to where. */
  readonly about: string;
  readonly clock: Clock;
}): Promise<ProgressFile> {
  const { file, about, clock } = options;
  const checkpoints = await readCheckpoints(file, about);
  let savedAt = clock.now();
  // Two writes of one file would mix.
  const writes = createKeyedSequence();

  function save(): Promise<void> {
    savedAt = clock.now();
    return writes('', async () => {
      const text = JSON.stringify({ about, sensors: Object.fromEntries(checkpoints) });
      // Its name is known beforehand: a link that somebody put there is not followed.
      await rm(`${file}.new`, { force: true });
      await writeFile(`${file}.new`, text, { flag: 'wx' });
      await rename(`${file}.new`, file);
    });
  }

  return {
    find: (sensor) => checkpoints.get(sensor),
    async set(sensor, checkpoint) {
      checkpoints.set(sensor, checkpoint);
      if (clock.now() - savedAt >= cloudLimits.saveEveryMs) await save();
    },
    save,
    async remove() {
      await writes.drain();
      await rm(file, { force: true });
    },
  };
}

async function readCheckpoints(file: string, about: string): Promise<Map<string, Checkpoint>> {
  const found = new Map<string, Checkpoint>();
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    // No file, or one that was cut off: all is copied, and stored once.
    return found;
  }
  if (!isRecord(json) || json['about'] !== about || !isRecord(json['sensors'])) return found;
  for (const [sensor, checkpoint] of Object.entries(json['sensors'])) {
    if (isCheckpoint(checkpoint)) found.set(sensor, checkpoint);
  }
  return found;
}

function isCheckpoint(json: unknown): json is Checkpoint {
  if (!isRecord(json)) return false;
  const { from, skip, seen } = json;
  const isPosition = Number.isSafeInteger(skip) && (from === undefined || typeof from === 'string');
  return isPosition && typeof seen === 'string';
}
