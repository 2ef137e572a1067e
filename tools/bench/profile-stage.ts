import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { benchLimits } from './bench-limits.ts';
import { type ProfileLine, topOfProfile } from './profile.ts';

/** A service that `bench profiled-serve` started, and where it writes its profile. */
export interface ProfiledService {
  readonly pid: number;
  readonly file: string;
}

/** The lines in which the service spent most of its time while `load` ran. */
export async function profileDuring(
  { pid, file }: ProfiledService,
  load: () => Promise<unknown>,
): Promise<readonly ProfileLine[]> {
  process.kill(pid, 'SIGUSR2');
  await load();
  process.kill(pid, 'SIGUSR2');
  const deadline = performance.now() + benchLimits.profileMs;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error('the service wrote no profile');
    await delay(benchLimits.askAgainMs);
  }
  const profile = JSON.parse(readFileSync(file, 'utf8'));
  // The next one is waited for under the same name.
  rmSync(file);
  return topOfProfile(profile, benchLimits.profileLines);
}
