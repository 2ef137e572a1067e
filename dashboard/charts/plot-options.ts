import type uPlot from 'uplot';
import { formatDate, formatNumber } from '../i18n/formats.ts';
import { faded, type Palette, seriesDash } from './colors.ts';
import type { JoinedLines } from './joined.ts';
import { scaleEnds, scaleKey, scalesOf } from './scales.ts';

/** A line of the plot, in the order of the joined lines. */
export interface PlotLine {
  readonly unit: string;
  /** Which colour. */
  readonly color: number;
  /** The period before: thin and dashed, no band. */
  readonly isBefore: boolean;
  readonly isStale: boolean;
  readonly isHidden: boolean;
  readonly threshold: number | undefined;
}

/** What the plot shows and how. */
export interface PlotLook {
  readonly lines: readonly PlotLine[];
  /** Whether points stand for several datapoints, so that there is a band. */
  readonly isThinned: boolean;
  /** Instants at which an alert fired. */
  readonly firings: readonly number[];
  readonly language: string;
  readonly palette: Palette;
  /** On phones axes take less room. */
  readonly isNarrow: boolean;
}

const axisPx = 52;
const narrowAxisPx = 40;
const bandShare = 0.18;

/** The rows of the plot: times, then for each line its value, low and high. */
export function plotData({ seconds, lines }: JoinedLines): uPlot.AlignedData {
  return [seconds, ...lines.flatMap(({ values, lows, highs }) => [values, lows, highs])];
}

/** Axes, scales, lines and bands of the plot. Size and hooks are the caller's. */
export function plotOptions(
  look: PlotLook,
): Pick<uPlot.Options, 'series' | 'bands' | 'scales' | 'axes'> {
  const { lines } = look;
  const shown = lines.filter(({ isHidden }) => !isHidden);
  const scales = scalesOf(shown.map(({ unit }) => unit));
  return {
    series: [{}, ...lines.flatMap((line) => seriesOf(line, look))],
    bands: lines.flatMap((line, index): uPlot.Band[] =>
      look.isThinned && !line.isBefore && !line.isHidden
        ? [
            {
              series: [3 * index + 3, 3 * index + 2],
              fill: faded(look.palette.series(line.color), bandShare),
            },
          ]
        : [],
    ),
    scales: {
      x: { time: true, auto: false },
      ...Object.fromEntries(scales.map(({ key }) => [key, unitScale(key, look)])),
    },
    axes: [timeAxis(look), ...scales.flatMap((scale) => unitAxis(scale, look))],
  };
}

function seriesOf(line: PlotLine, { isThinned, palette }: PlotLook): uPlot.Series[] {
  const color = palette.series(line.color);
  const dash = line.isBefore ? [3, 4] : line.isStale ? [6, 4] : seriesDash(line.color);
  const common = { scale: scaleKey(line.unit), show: !line.isHidden };
  const edge: uPlot.Series = {
    ...common,
    show: common.show && isThinned && !line.isBefore,
    width: 0,
    points: { show: false },
  };
  return [
    {
      ...common,
      stroke: line.isBefore ? faded(color, 0.6) : color,
      width: line.isBefore ? 1.25 : 2,
      ...(dash !== undefined && { dash }),
      // A lone value between two gaps would be no line at all.
      points: { show: line.isBefore ? false : showLonePoints, size: 5, fill: color },
    },
    edge,
    edge,
  ];
}

/** Points are drawn while they are far apart, as few values in a wide plot are. */
function showLonePoints(plot: uPlot, _series: number, first: number, last: number): boolean {
  const pixels = plot.bbox.width / devicePixelRatio;
  return last - first < pixels / 24;
}

function unitScale(key: string, { lines }: PlotLook): uPlot.Scale {
  const thresholds = lines.flatMap(({ unit, threshold, isHidden }) =>
    scaleKey(unit) === key && threshold !== undefined && !isHidden ? [threshold] : [],
  );
  return {
    auto: true,
    range: (_plot, low, high) => [...scaleEnds(low, high, thresholds)] as [number, number],
  };
}

function timeAxis({ palette, language }: PlotLook): uPlot.Axis {
  return {
    ...axisLook(palette),
    space: 76,
    size: 40,
    values: ({ scales }, splits) => timeLabels(splits, spanMsOf(scales['x']), language),
  };
}

const spanMsOf = (scale: uPlot.Scale | undefined): number =>
  ((scale?.max ?? 0) - (scale?.min ?? 0)) * 1000;

const dayMs = 86_400_000;

/** Days where they differ from the label before, clock times between them; months over years. */
export function timeLabels(splits: readonly number[], spanMs: number, language: string): string[] {
  const isLong = spanMs > 300 * dayMs;
  let before = '';
  return splits.map((seconds) => {
    const at = seconds * 1000;
    const day = formatDate(at, { language, style: isLong ? 'month' : 'dayMonth' });
    const time = formatDate(at, { language, style: 'time' });
    const isNewDay = day !== before;
    before = day;
    if (isLong || spanMs > 3 * dayMs) return isNewDay || isLong ? day : time;
    return isNewDay ? `${time}\n${day}` : time;
  });
}

function unitAxis(
  { key, unit, side }: ReturnType<typeof scalesOf>[number],
  { palette, language, isNarrow }: PlotLook,
): uPlot.Axis[] {
  if (side === undefined) return [];
  return [
    {
      ...axisLook(palette),
      scale: key,
      side: side === 'left' ? 3 : 1,
      size: isNarrow ? narrowAxisPx : axisPx,
      space: 44,
      // Two grids across each other help nobody.
      grid: { show: side === 'left', stroke: palette.line, width: 1 },
      values: (_plot, splits) => splits.map((value) => formatNumber(value, language)),
      ...(unit !== '' && { label: unit, labelSize: 18, labelGap: 0 }),
    },
  ];
}

function axisLook({ quiet, line }: Palette): uPlot.Axis {
  return {
    stroke: quiet,
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  };
}

/** Dashed alert lines and marks of firings, painted over the lines. */
export function paintMarks(plot: uPlot, { lines, firings, palette }: PlotLook): void {
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = palette.alert;
  ctx.fillStyle = palette.alert;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { threshold, unit, isHidden, isBefore } of lines) {
    if (threshold === undefined || isHidden || isBefore) continue;
    const y = plot.valToPos(threshold, scaleKey(unit), true);
    ctx.setLineDash([6 * devicePixelRatio, 5 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(right, y);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  const size = 6 * devicePixelRatio;
  for (const at of firings) {
    const x = plot.valToPos(at / 1000, 'x', true);
    const base = bbox.top + bbox.height;
    ctx.beginPath();
    ctx.moveTo(x - size, base);
    ctx.lineTo(x + size, base);
    ctx.lineTo(x, base - 2 * size);
    ctx.fill();
  }
  ctx.restore();
}
