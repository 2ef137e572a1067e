import type uPlot from 'uplot';
import { type Ends, type NearPoint, usualEnds } from './usual.ts';

/** The points of a line that are in view, or between two of their indexes. */
export function pointsInView(plot: uPlot, line: number, [from, to] = viewOf(plot)): NearPoint[] {
  const [values = [], lows = [], highs = []] = plot.data.slice(3 * line + 1, 3 * line + 4);
  const points: NearPoint[] = [];
  for (let index = from; index <= to; index += 1) {
    const value = values[index];
    if (typeof value !== 'number') continue;
    points.push({ index, low: lows[index] ?? value, high: highs[index] ?? value });
  }
  return points;
}

const viewOf = (plot: uPlot): readonly [from: number, to: number] =>
  plot.series[0]?.idxs ?? [0, -1];

/** The ends of what is usual in any of the lines that are shown. */
export function usualOf(
  plot: uPlot,
  lines: readonly { readonly isHidden: boolean }[],
): Ends | undefined {
  const all = lines.flatMap(({ isHidden }, line) => {
    const values = pointsInView(plot, line).flatMap(({ low, high }) => [low, high]);
    return isHidden ? [] : (usualEnds(values) ?? []);
  });
  return all.length === 0 ? undefined : [Math.min(...all), Math.max(...all)];
}
