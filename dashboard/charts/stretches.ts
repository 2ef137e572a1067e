import type { Step } from './columns.ts';
import { spanOf, type TimeRange } from './ranges.ts';

/** A value that held for a while; where it is drawn, as shares of the range. */
export interface Stretch extends Step {
  readonly left: number;
  readonly width: number;
}

/** Each step lasts until the next one, the last until the end of the range. */
export function stretchesOf(steps: readonly Step[], range: TimeRange): readonly Stretch[] {
  const span = spanOf(range);
  return steps.flatMap((step, index) => {
    const from = Math.max(step.at, range.from);
    const to = Math.min(steps[index + 1]?.at ?? range.to, range.to);
    if (to <= from || span === 0) return [];
    return [{ ...step, left: (from - range.from) / span, width: (to - from) / span }];
  });
}
