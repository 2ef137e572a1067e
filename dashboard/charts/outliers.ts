import type uPlot from 'uplot';
import { axisNumber, type PlotLook } from './plot-options.ts';
import { pointsInView } from './plot-points.ts';
import { valueScale } from './scales.ts';

/** Marks of outliers that are closer than this, in pixels, are one, of the outermost value. */
const outlierRoomPx = 14;
/** With more of them their values are not written. */
const outlierTextsMax = 4;

/** Arrows at the edge of the plot towards what lies beyond it, with its value. */
export function paintOutliers(plot: uPlot, look: PlotLook): void {
  const { ctx } = plot;
  ctx.font = `${look.palette.textPx * devicePixelRatio}px system-ui, sans-serif`;
  for (const [place, { isHidden, isBefore, color }] of look.lines.entries()) {
    if (isHidden || isBefore) continue;
    ctx.fillStyle = look.palette.series(color);
    for (const isAbove of [true, false]) {
      const marks = marksOf(plot, place, isAbove);
      for (const mark of marks) {
        const text = marks.length > outlierTextsMax ? '' : axisNumber(mark.value, look.language);
        paintMark(plot, { ...mark, isAbove, text });
      }
    }
  }
}

interface Mark {
  x: number;
  value: number;
}

/** The values beyond one edge of the plot; x in pixels of the canvas. */
function marksOf(plot: uPlot, place: number, isAbove: boolean): readonly Mark[] {
  const { min, max } = plot.scales[valueScale] ?? {};
  const marks: Mark[] = [];
  for (const { index, low, high } of pointsInView(plot, place)) {
    const value = isAbove ? high : low;
    if (isAbove ? value <= (max ?? 0) : value >= (min ?? 0)) continue;
    const x = plot.valToPos(plot.data[0][index] ?? 0, 'x', true);
    const last = marks.at(-1);
    if (last === undefined || x - last.x > outlierRoomPx * devicePixelRatio) {
      marks.push({ x, value });
    } else if (isAbove === value > last.value) Object.assign(last, { x, value });
  }
  return marks;
}

function paintMark(
  { ctx, bbox }: uPlot,
  { x, isAbove, text }: Mark & { readonly isAbove: boolean; readonly text: string },
): void {
  const size = 5 * devicePixelRatio;
  const edge = isAbove ? bbox.top : bbox.top + bbox.height;
  const base = edge + (isAbove ? 2 : -2) * size;
  ctx.beginPath();
  ctx.moveTo(x - size, base);
  ctx.lineTo(x + size, base);
  ctx.lineTo(x, edge);
  ctx.fill();
  const isLeft = x + 2 * size + ctx.measureText(text).width < bbox.left + bbox.width;
  ctx.textAlign = isLeft ? 'left' : 'right';
  ctx.textBaseline = isAbove ? 'top' : 'bottom';
  ctx.fillText(text, x + (isLeft ? 1.5 : -1.5) * size, edge);
}
