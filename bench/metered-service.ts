import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type ServiceProcess, startProcess } from '../test/service-process.ts';
import type { LoopHolds } from './loop-meter.ts';

/** A service whose main thread is metered. */
export interface MeteredService extends ServiceProcess {
  /** How long its main thread was held since the call before. */
  readonly holds: () => Promise<LoopHolds>;
}

/**
 * Starts a service with its data and its meter's file in a directory; with a folder for them, it
 * writes CPU profiles of its threads there when it ends.
 */
export async function startMetered(directory: string, profiles?: string): Promise<MeteredService> {
  const meterFile = join(directory, 'holds.json');
  const service = await startProcess({
    directory,
    environment: { KIPIMO_LOG_LEVEL: 'info', LOOP_METER_FILE: meterFile },
    nodeFlags: [
      ...['--import', pathToFileURL(resolve(import.meta.dirname, 'loop-meter.ts')).href],
      ...(profiles === undefined
        ? []
        : ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profiles}`]),
    ],
  });
  return Object.assign(service, { holds: createHolds(service.pid, meterFile) });
}

/** Asks a process that loads the meter how long its main thread was held since the call before. */
export const createHolds = (pid: number, meterFile: string) => async (): Promise<LoopHolds> => {
  rmSync(meterFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    await wait(3);
    try {
      return JSON.parse(readFileSync(meterFile, 'utf8')) as LoopHolds;
    } catch {
      // It is not written yet.
    }
  }
};
