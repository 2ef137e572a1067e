import UPlot from 'uplot';

/** So much of their time bars take, and so many pixels at most. */
const share = 0.86;
const widthMaxPx = 64;

/** From the start of their time to the right, with a gap between them. */
const alone = UPlot.paths.bars?.({ size: [share, widthMaxPx], align: 1 });

/** A value of the time axis, not a part of its pixels. */
const scaleValue = 1;

/**
 * Draws bars, beside those of other sensors where there are several: one in front of the other
 * would hide it.
 */
export function barPaths(place: number, count: number): UPlot.Series.PathBuilder | undefined {
  if (count < 2) return alone;
  return UPlot.paths.bars?.({
    disp: {
      x0: {
        unit: scaleValue,
        values: (plot) => {
          const width = slotOf(plot) / count;
          return Array.from(plot.data[0], (time) => time + place * width);
        },
      },
      size: { unit: scaleValue, values: (plot) => [slotOf(plot) / count] },
    },
  });
}

/** What the bars of one time take together, in seconds of the axis. */
function slotOf(plot: UPlot): number {
  const { min = 0, max = 1 } = plot.scales['x'] ?? {};
  const span = (max ?? 1) - (min ?? 0);
  const [times] = plot.data;
  const steps = Array.from(times)
    .slice(1)
    .map((time, index) => time - (times[index] ?? time));
  const step = Math.min(span, ...steps.filter((length) => length > 0));
  const widest = (widthMaxPx * devicePixelRatio * span) / Math.max(1, plot.bbox.width);
  return Math.min(share * step, widest);
}
