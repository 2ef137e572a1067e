import type { Profiler } from 'node:inspector';
import { basename } from 'node:path';

/** Where time goes: a function, and its part of the time that the thread was busy. */
export interface ProfileLine {
  /** 0 to 1, of itself, without what it calls. */
  readonly part: number;
  readonly name: string;
  /** File and line; empty for what V8 does by itself. */
  readonly place: string;
}

/** What is no work of the service: waiting for something to do, and the profiler itself. */
const isNoWork = ({ functionName, url }: Profiler.ProfileNode['callFrame']): boolean =>
  functionName === '(idle)' || functionName === '(root)' || url === 'node:inspector';

/** The functions in which a thread spent most of its time, the most first. */
export function topOfProfile(profile: Profiler.Profile, count: number): readonly ProfileLine[] {
  const times = timesByNode(profile);
  const byFunction = new Map<string, ProfileLine>();
  let busy = 0;
  for (const { id, callFrame } of profile.nodes) {
    const time = times.get(id) ?? 0;
    if (isNoWork(callFrame) || time === 0) continue;
    busy += time;
    const name = callFrame.functionName || '(anonymous)';
    const place =
      callFrame.url === '' ? '' : `${basename(callFrame.url)}:${callFrame.lineNumber + 1}`;
    const key = `${name} ${place}`;
    byFunction.set(key, { name, place, part: time + (byFunction.get(key)?.part ?? 0) });
  }
  return [...byFunction.values()]
    .toSorted((one, other) => other.part - one.part)
    .slice(0, count)
    .map((line) => ({ ...line, part: line.part / busy }));
}

function timesByNode({ samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, number> {
  const times = new Map<number, number>();
  for (const [at, id] of samples.entries()) {
    times.set(id, (times.get(id) ?? 0) + Math.max(0, timeDeltas[at] ?? 0));
  }
  return times;
}
