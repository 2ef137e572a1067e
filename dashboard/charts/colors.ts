/** How many colours there are before they come again, then dashed. */
const colorCount = 6;

/** The custom property that holds the colour of a line. */
export const seriesToken = (index: number): string => `--series-${(index % colorCount) + 1}`;

/** Lines beyond the colours differ by their dashes. */
export function seriesDash(index: number): number[] | undefined {
  const round = Math.floor(index / colorCount);
  return round === 0 ? undefined : [8 / round, 4];
}

/** Larger numbers would not fit beside an axis. */
const axisTextMax = 18;

/** What the plot is painted with; a canvas cannot read style sheets by itself. */
export interface Palette {
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  readonly alert: string;
  /** How large the numbers at the axes are: they follow the size of text in the browser. */
  readonly textPx: number;
  readonly series: (index: number) => string;
}

/** The colours of the theme in use around an element. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const color = (token: string): string => style.getPropertyValue(token).trim();
  return {
    ink: color('--ink'),
    quiet: color('--ink-quiet'),
    line: color('--line'),
    alert: color('--alert'),
    textPx: Math.min(axisTextMax, 0.75 * Number.parseFloat(style.fontSize) || 12),
    series: (index) => color(seriesToken(index)),
  };
}

/** A colour with less of it: `share` from 0 to 1. Colours of the tokens are six hex digits. */
export function faded(color: string, share: number): string {
  const alpha = Math.round(Math.min(1, Math.max(0, share)) * 255);
  return /^#[0-9a-f]{6}$/i.test(color) ? `${color}${alpha.toString(16).padStart(2, '0')}` : color;
}
