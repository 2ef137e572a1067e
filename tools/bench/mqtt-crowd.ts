import { readFileSync } from 'node:fs';
import { type MqttConnection, openMqttConnections } from './mqtt-connection.ts';
import type { MqttLogin } from './mqtt-packets.ts';

/** What many connections that say nothing cost a broker. */
export interface CrowdFigures {
  readonly connections: number;
  /** From the first connection attempt to the last CONNACK. */
  readonly openedMs: number;
  /** Resident memory per connection; undefined where the system does not tell. */
  readonly bytesEach?: number;
}

const parallel = 200;
const settleMs = 500;
const connectionsPerAddress = 1_000;

/**
 * One address may have a part of all connections only, and where a process may open few files that
 * is less than a crowd. Linux and Windows know all of 127.0.0.0/8 as addresses of this machine.
 */
const addressOf = (index: number): string | undefined =>
  process.platform === 'linux' || process.platform === 'win32'
    ? `127.0.0.${2 + Math.floor(index / connectionsPerAddress)}`
    : undefined;

/** Opens connections, leaves them idle, and looks at the memory of the broker's process. */
export async function measureCrowd(options: {
  readonly port: number;
  readonly pid: number;
  readonly connections: number;
  readonly login: (index: number) => MqttLogin;
}): Promise<CrowdFigures> {
  const { port, pid, connections: count } = options;
  let failure: Error | undefined;
  const onFailure = (error: Error) => {
    failure ??= error;
  };
  const before = residentBytes(pid);
  const startedAt = performance.now();
  const opened: readonly MqttConnection[] = await openMqttConnections({
    port,
    count,
    parallel,
    login: options.login,
    addressOf,
    onFailure,
  });
  const openedMs = performance.now() - startedAt;
  // What was needed only to open them is given back soon.
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const after = residentBytes(pid);
  const lost = failure;
  for (const connection of opened) connection.close();
  if (lost !== undefined) throw lost;
  const bytesEach =
    before === undefined || after === undefined ? undefined : (after - before) / count;
  return { connections: count, openedMs, ...(bytesEach !== undefined && { bytesEach }) };
}

/** Linux alone tells about another process without a program of its own. */
function residentBytes(pid: number): number | undefined {
  try {
    const [, kibibytes] =
      /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
  } catch {
    return undefined;
  }
}
