/** How a sensor is drawn: as a line, as bars of sums, or as stretches of text. */
export type Shape = 'line' | 'sum' | 'text';

/** One plot of a chart: everything that has this unit and this shape. */
export interface Panel {
  readonly key: string;
  readonly unit: string;
  readonly isBars: boolean;
  /** Places of its sensors among those of the chart. */
  readonly members: readonly number[];
}

interface Drawn {
  readonly name?: string;
  readonly unit?: string | undefined;
  readonly shape?: Shape | undefined;
}

/**
 * One plot for each unit, in order of appearance: what has a unit in common can be compared, what
 * has not shares nothing but the time. Texts have no plot; where there is nothing else, one is
 * empty and carries the time axis.
 */
export function panelsOf(sensors: readonly Drawn[]): readonly Panel[] {
  const panels = new Map<string, { unit: string; isBars: boolean; members: number[] }>();
  sensors.forEach(({ unit = '', shape = 'line' }, index) => {
    if (shape === 'text') return;
    const isBars = shape === 'sum';
    const key = `${isBars ? 'sum' : 'line'} ${unit}`;
    const known = panels.get(key);
    if (known === undefined) panels.set(key, { unit, isBars, members: [index] });
    else known.members.push(index);
  });
  if (panels.size === 0) return [{ key: 'time', unit: '', isBars: false, members: [] }];
  return [...panels].map(([key, panel]) => ({ key, ...panel }));
}

/** The time axis below the last plot takes this much more. */
export const timeAxisPx = 40;

/** How high each plot is without the time axis: less where there are several, never too little. */
export function panelHeight(panels: readonly Panel[], isNarrow: boolean): number {
  if (panels.every(({ members }) => members.length === 0)) return 24;
  const all = isNarrow ? [220, 140, 120] : [300, 190, 150];
  return all[Math.min(panels.length, all.length) - 1] ?? 120;
}

/** Of the legend: an entry is never narrower, and so much of it is no text. */
const legend = {
  ...{ entryPx: 168, gapPx: 8, besidePx: 34 },
  ...{ rowPx: 60, linePx: 17, letterPx: 7 },
} as const;
const legendLinesMax = 3;
const controlsPx = { narrow: 304, wide: 150 };
const lanePx = { narrow: 68, wide: 50 };

const narrowMaxPx = 560;

/** How high the plots and the lanes of texts are together. */
export function plotsHeight(sensors: readonly Drawn[], widthPx: number): number {
  const panels = panelsOf(sensors);
  const lanes = sensors.filter(({ shape }) => shape === 'text').length;
  const isNarrow = widthPx < narrowMaxPx;
  const eachPx = panelHeight(panels, isNarrow);
  const lanesPx = lanes * (isNarrow ? lanePx.narrow : lanePx.wide);
  return panels.length * eachPx + timeAxisPx + lanesPx;
}

/** How high the whole chart is, about: its place is kept while its code is on its way. */
export function chartHeight(sensors: readonly Drawn[], widthPx: number): number {
  const controls = widthPx < narrowMaxPx ? controlsPx.narrow : controlsPx.wide;
  return controls + legendHeight(sensors, widthPx) + plotsHeight(sensors, widthPx);
}

/** Names that are long take several lines, and their row with them. */
function legendHeight(sensors: readonly Drawn[], widthPx: number): number {
  const { entryPx, gapPx, besidePx, rowPx, linePx, letterPx } = legend;
  const perRow = Math.max(1, Math.floor((widthPx + gapPx) / (entryPx + gapPx)));
  const columns = Math.max(1, Math.min(perRow, sensors.length));
  const textPx = (widthPx + gapPx) / columns - gapPx - besidePx;
  const lines = sensors.map(({ name = '' }) =>
    Math.min(legendLinesMax, Math.max(1, Math.ceil((name.length * letterPx) / textPx))),
  );
  let height = 0;
  for (let at = 0; at < lines.length; at += columns) {
    const most = Math.max(...lines.slice(at, at + columns));
    height += rowPx + (most - 1) * linePx;
  }
  return height;
}
