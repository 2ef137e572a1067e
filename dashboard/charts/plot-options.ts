import type uPlot from 'uplot';
import UPlot from 'uplot';
import { formatDate, formatNumber } from '../i18n/formats.ts';
import { barPaths } from './bar-paths.ts';
import { faded, type Palette, seriesDash } from './colors.ts';
import type { JoinedLines } from './joined.ts';
import { timeAxisPx } from './panels.ts';
import { usualOf } from './plot-points.ts';
import { barEnds, scaleEnds, valueScale } from './scales.ts';

/** A line of the plot, in the order of the joined lines. */
export interface PlotLine {
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
  /** Bars that stand on 0, each from the start of its time on. */
  readonly isBars: boolean;
  /** Whether the times are written below it: only below the last plot of a chart. */
  readonly hasTimes: boolean;
  /** Whose clock the times are on. */
  readonly zone: string;
  /** Instants at which an alert fired. */
  readonly firings: readonly number[];
  readonly language: string;
  readonly palette: Palette;
  /** On phones axes take less room. */
  readonly isNarrow: boolean;
}

/** All plots of a chart keep this much at the left, so that their times lie below each other. */
const axisPx = 56;
const narrowAxisPx = 46;
const bandShare = 0.2;
/** With more lines than this, bands are fainter. */
const bandsMax = 2;

/** The rows of the plot: times, then for each line its value, low and high. */
export function plotData({ seconds, lines }: JoinedLines): uPlot.AlignedData {
  return [seconds, ...lines.flatMap(({ values, lows, highs }) => [values, lows, highs])];
}

/** Axes, scale, lines and bands of the plot. Size and hooks are the caller's. */
export function plotOptions(
  look: PlotLook,
): Pick<uPlot.Options, 'series' | 'bands' | 'scales' | 'axes' | 'tzDate'> {
  const { lines, zone } = look;
  // Bands of many lines would hide each other.
  const share = lines.length > bandsMax ? bandShare / 2 : bandShare;
  return {
    // Days begin where they do on that clock.
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), zone),
    series: [{}, ...lines.flatMap((line) => seriesOf(line, look))],
    bands: lines.flatMap((line, index): uPlot.Band[] =>
      hasBand(line, look)
        ? [
            {
              series: [3 * index + 3, 3 * index + 2],
              fill: faded(look.palette.series(line.color), share),
            },
          ]
        : [],
    ),
    scales: { x: { time: true, auto: false }, [valueScale]: valueScaleOf(look) },
    axes: [timeAxis(look), valueAxis(look)],
  };
}

const hasBand = (line: PlotLine, { isThinned, isBars }: PlotLook): boolean =>
  isThinned && !isBars && !line.isBefore && !line.isHidden;

function seriesOf(line: PlotLine, look: PlotLook): uPlot.Series[] {
  const { isBars, palette } = look;
  const color = palette.series(line.color);
  const dash = line.isBefore ? [3, 4] : line.isStale && !isBars ? [6, 4] : seriesDash(line.color);
  const common = { scale: valueScale, show: !line.isHidden };
  const edge: uPlot.Series = {
    ...common,
    show: hasBand(line, look),
    width: 0,
    points: { show: false },
  };
  const bars: Partial<uPlot.Series> = {
    width: 1,
    fill: faded(color, line.isBefore ? 0.2 : 0.7),
    points: { show: false },
    ...pathsOfBars(line, look),
  };
  return [
    {
      ...common,
      stroke: line.isBefore ? faded(color, 0.6) : color,
      width: line.isBefore ? 1.25 : 2,
      ...(dash !== undefined && { dash }),
      // A lone value between two gaps would be no line at all.
      points: { show: line.isBefore ? false : showLonePoints, size: 5, fill: color },
      ...(isBars && bars),
    },
    edge,
    edge,
  ];
}

/** Beside the bars of the other sensors that are shown; those of before are behind the own. */
function pathsOfBars(line: PlotLine, { lines }: PlotLook): Partial<uPlot.Series> {
  const colors = lines.flatMap(({ color, isHidden, isBefore }) =>
    isHidden || isBefore ? [] : [color],
  );
  const paths = barPaths(Math.max(0, colors.indexOf(line.color)), colors.length);
  return paths === undefined ? {} : { paths };
}

/** Points are drawn while they are far apart, as few values in a wide plot are. */
function showLonePoints(plot: uPlot, _series: number, first: number, last: number): boolean {
  const pixels = plot.bbox.width / devicePixelRatio;
  return last - first < pixels / 24;
}

function valueScaleOf({ lines, isBars }: PlotLook): uPlot.Scale {
  const thresholds = lines.flatMap(({ threshold, isHidden }) =>
    threshold !== undefined && !isHidden ? [threshold] : [],
  );
  return {
    auto: true,
    range: (plot, low, high) => {
      if (isBars) return [...barEnds(low, high)] as [number, number];
      const usual = usualOf(plot, lines);
      return [...scaleEnds(usual?.[0] ?? low, usual?.[1] ?? high, thresholds)] as [number, number];
    },
  };
}

function timeAxis({ palette, language, hasTimes, zone }: PlotLook): uPlot.Axis {
  return {
    ...axisLook(palette),
    space: 76,
    size: hasTimes ? timeAxisPx : 0,
    ticks: { show: hasTimes, stroke: palette.line, width: 1, size: 4 },
    values: ({ scales }, splits) =>
      hasTimes ? timeLabels(splits, spanMsOf(scales['x']), { language, zone }) : [],
  };
}

const spanMsOf = (scale: uPlot.Scale | undefined): number =>
  ((scale?.max ?? 0) - (scale?.min ?? 0)) * 1000;

const dayMs = 86_400_000;

/** Days where they differ from the label before, clock times between them; months over years. */
export function timeLabels(
  splits: readonly number[],
  spanMs: number,
  { language, zone }: { readonly language: string; readonly zone?: string | undefined },
): string[] {
  const isLong = spanMs > 300 * dayMs;
  let before = '';
  return splits.map((seconds) => {
    const at = seconds * 1000;
    const day = formatDate(at, { language, zone, style: isLong ? 'month' : 'dayMonth' });
    const time = formatDate(at, { language, zone, style: 'time' });
    const isNewDay = day !== before;
    before = day;
    if (isLong || spanMs > 3 * dayMs) return isNewDay || isLong ? day : time;
    return isNewDay ? `${time}\n${day}` : time;
  });
}

/** Numbers, but none beside a plot that carries the times of texts alone. */
function valueAxis({ palette, language, isNarrow, lines }: PlotLook): uPlot.Axis {
  return {
    ...axisLook(palette),
    scale: valueScale,
    side: 3,
    size: isNarrow ? narrowAxisPx : axisPx,
    space: 28,
    values: (_plot, splits) =>
      lines.length === 0 ? [] : splits.map((value) => axisNumber(value, language)),
  };
}

/** Large numbers in few characters, as there is little room: 750K. */
export function axisNumber(value: number, language: string): string {
  const size = Math.abs(value);
  if (size < compactMin || size >= compactMax) return formatNumber(value, language);
  return new Intl.NumberFormat(language, {
    ...{ notation: 'compact', maximumFractionDigits: 1 },
  }).format(value);
}

const compactMin = 10_000;
/** There is no short word for so many. */
const compactMax = 1e15;

function axisLook({ quiet, line, textPx }: Palette): uPlot.Axis {
  return {
    stroke: quiet,
    font: `${textPx}px system-ui, sans-serif`,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  };
}

/** Dashed alert lines, and marks of firings, painted over the lines. */
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
  for (const { threshold, isHidden, isBefore } of lines) {
    if (threshold === undefined || isHidden || isBefore) continue;
    const y = plot.valToPos(threshold, valueScale, true);
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
