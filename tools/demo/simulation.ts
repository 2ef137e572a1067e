import type { Clock } from '../../src/lib/clock.ts';
import { createApiClient } from '../client/api-client.ts';
import { registerCompany, sendHeartbeats } from './company.ts';
import { createFleet } from './fleet.ts';
import { type Account, ensureFriend, identify } from './identity.ts';
import { openProgress } from './progress.ts';
import { countOf, pushInstant, pushPast } from './push.ts';
import { registerFleet, shareDevices } from './registration.ts';

export interface SimulationOptions {
  /** Of the service, for instance http://127.0.0.1:8080. */
  readonly url: string;
  readonly account: Account;
  readonly devices: number;
  readonly seed: number;
  /** Starts every device id. */
  readonly prefix: string;
  /** How far back the past is filled first; absent: not at all. */
  readonly history?: { readonly lengthMs: number; readonly stepMs: number };
  /** Time between live values; absent: one round only. */
  readonly everyMs?: number;
}

/** What a simulation needs from the world around it. */
export interface Surroundings {
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly isTerminal: boolean;
  /** Rejects once the run was stopped. */
  readonly wait: (delayMs: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What one run pushed. */
export interface SimulationReport {
  readonly devicesMade: number;
  readonly pastValues: number;
  readonly liveValues: number;
}

/** Makes devices, fills their past, pushes live values; rejects when the run is stopped. */
export async function simulate(
  options: SimulationOptions,
  surroundings: Surroundings,
): Promise<SimulationReport> {
  const { print, wait, signal } = surroundings;
  const client = createApiClient({ url: options.url, wait, signal });
  const owner = await identify(client, options.account, print);
  const { devices: count, seed, prefix } = options;
  const fleet = createFleet({ count, seed, prefix });
  const devicesMade = await registerFleet(client, { fleet, owner });
  print(`${devicesMade} devices made, ${fleet.length - devicesMade} were there; owner: ${owner}.`);
  if (owner !== 'guest') {
    const friend = await ensureFriend(client, owner, print);
    if (friend !== undefined) await shareDevices(client, { fleet, username: friend });
  }

  const company = await registerCompany(client, { fleet, owner });
  const pastValues = await fillPast();
  const liveValues = await pushLive();
  return { devicesMade, pastValues, liveValues };

  async function fillPast(): Promise<number> {
    const { history } = options;
    if (history === undefined) return 0;
    const { clock, isTerminal } = surroundings;
    const to = clock.now();
    const past = { from: to - history.lengthMs, to, stepMs: history.stepMs };
    const progress = openProgress({ total: countOf(fleet, past), isTerminal, print });
    const onProgress = (instants: number) => progress.advance(instants);
    const pushed = await pushPast(client, fleet, { past, onProgress }).finally(progress.stop);
    const seconds = Math.max(0.001, (clock.now() - to) / 1_000);
    const rate = Math.round(pushed / seconds).toLocaleString('en');
    print(`${pushed.toLocaleString('en')} past values in ${seconds.toFixed(1)} s: ${rate}/s.`);
    return pushed;
  }

  async function pushLive(): Promise<number> {
    const { clock } = surroundings;
    const { everyMs } = options;
    const stepMs = everyMs ?? 1_000;
    let pushed = 0;
    while (true) {
      const instant = Math.floor(clock.now() / stepMs) * stepMs;
      await sendHeartbeats(client, company);
      const values = await pushInstant(client, fleet, { instant, spanMs: everyMs });
      pushed += values;
      print(`${new Date(instant).toISOString()}  ${values} values of ${fleet.length} devices`);
      if (everyMs === undefined) return pushed;
      await wait(Math.max(0, instant + stepMs - clock.now()));
    }
  }
}
