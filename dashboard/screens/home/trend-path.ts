interface Point {
  readonly at: number;
  readonly value: number;
}

/** The line through the points as an SVG path; broken where nothing was heard for `gapMs`. */
export function trendPath(
  points: readonly Point[],
  room: {
    readonly from: number;
    readonly to: number;
    readonly width: number;
    readonly height: number;
    readonly gapMs: number;
  },
): string {
  const { from, to, width, height, gapMs } = room;
  const values = points.map(({ value }) => value);
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  const inner = height - 4;
  let before: Point | undefined;
  let path = '';
  for (const point of points) {
    const x = ((point.at - from) / (to - from)) * width;
    // A flat line runs through the middle.
    const y = 2 + (span === 0 ? inner / 2 : inner - ((point.value - low) / span) * inner);
    const isBroken = before === undefined || point.at - before.at > gapMs;
    path += `${isBroken ? 'M' : 'L'}${round(x)} ${round(y)}`;
    before = point;
  }
  return path;
}

const round = (value: number): number => Math.round(value * 10) / 10;
