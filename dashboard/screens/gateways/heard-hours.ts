/** How an hour was: heard from, silent, or before there was anything to hear. */
export type HourState = 'heard' | 'silent' | 'notYet';

const hourMs = 3_600_000;

/** The hours shown: a week. */
export const weekHours = 7 * 24;

/** Devices that report every few hours are not silent in between. */
const patienceHours = 3;

/** The start of the first of the hours that end with the current one. */
export function weekStart(now: number): number {
  return (Math.floor(now / hourMs) + 1 - weekHours) * hourMs;
}

/** How each hour of the week was, from the instants at which anything was heard. */
export function hoursOfWeek(
  heardAt: readonly number[],
  { now, since }: { readonly now: number; readonly since: number },
): readonly HourState[] {
  const start = weekStart(now);
  const heard = new Set(heardAt.map((at) => Math.floor((at - start) / hourMs)));
  const sinceHour = Math.floor((since - start) / hourMs);
  let quiet = Number.POSITIVE_INFINITY;
  return Array.from({ length: weekHours }, (_, hour) => {
    quiet = heard.has(hour) ? 0 : quiet + 1;
    if (quiet < patienceHours) return 'heard';
    return hour < sinceHour + patienceHours ? 'notYet' : 'silent';
  });
}

/** Hours of one kind in a row. */
export interface HourRun {
  readonly state: HourState;
  readonly start: number;
  readonly length: number;
}

/** The hours as few stretches. */
export function runsOf(hours: readonly HourState[]): readonly HourRun[] {
  const runs: { state: HourState; start: number; length: number }[] = [];
  hours.forEach((state, start) => {
    const last = runs.at(-1);
    if (last?.state === state) last.length += 1;
    else runs.push({ state, start, length: 1 });
  });
  return runs;
}
