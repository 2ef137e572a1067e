import { readdirSync, readFileSync } from 'node:fs';

/** Ids of a process, if it is there, and of all that descend from it, the elders first. */
export function familyOf(root: number | undefined): readonly number[] {
  if (root === undefined) return [];
  const children = new Map<number, number[]>();
  let isThere = false;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : undefined;
    if (parent === undefined) continue;
    isThere ||= pid === root;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = isThere ? [root] : [];
  for (const one of found) found.push(...(children.get(one) ?? []));
  return found;
}

/** Its parent; undefined: it ended, and waits at most for somebody to notice. */
function parentOf(pid: number): number | undefined {
  try {
    // The name stands in brackets, and may hold anything.
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' || state === 'X' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

/** Sends it to each that is still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended just now.
    }
  }
}
