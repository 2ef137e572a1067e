import { readFileSync } from 'node:fs';

/** What a message took of the processors, in microseconds. */
export interface MessageCosts {
  /** The server, all of its threads, and the kernel on its behalf. */
  readonly serverMicros: number;
  /** The load generator, which shares the processors. */
  readonly generatorMicros: number;
}

/** Linux counts in hundredths of a second, wherever it runs. */
const microsPerTick = 10_000;

/** Begins to count what a process takes; the answer tells it for each of `messages` since. */
export function startProcessorTime(pid: number): (messages: number) => MessageCosts | undefined {
  const before = readMicros(pid);
  const ownBefore = process.cpuUsage();
  return (messages) => {
    const after = readMicros(pid);
    const { user, system } = process.cpuUsage(ownBefore);
    if (before === undefined || after === undefined) return undefined;
    return {
      serverMicros: (after - before) / messages,
      generatorMicros: (user + system) / messages,
    };
  };
}

/** undefined: the system does not tell, or the process is gone. */
function readMicros(pid: number): number | undefined {
  try {
    // The name of the program, in brackets, may hold anything.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
  } catch {
    return undefined;
  }
}
