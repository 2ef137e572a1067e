import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import type { JoinedLines } from './joined.ts';
import { paintOutliers } from './outliers.ts';
import { type PlotLook, paintMarks, plotData, plotOptions } from './plot-options.ts';
import { pointsInView } from './plot-points.ts';
import { rangeBetween, type TimeRange, zoomed } from './ranges.ts';
import { valueScale } from './scales.ts';
import { outstandingIndex } from './usual.ts';

/** Where the lines are within the plot, for what is laid out beside them. */
export interface PlotRoom {
  readonly leftPx: number;
  readonly widthPx: number;
}

/** What the plot tells and is told. */
export interface PlotProps {
  readonly joined: JoinedLines;
  readonly look: PlotLook;
  readonly range: TimeRange;
  readonly widthPx: number;
  readonly heightPx: number;
  /** Where the cursor stands; undefined hides it. */
  readonly cursor: number | undefined;
  readonly onCursor: (at: number | undefined) => void;
  readonly onRange: (range: TimeRange) => void;
  readonly onRoom: (room: PlotRoom) => void;
}

/** The lines on a canvas. New data is drawn into the plot at hand; another look makes a new one. */
export function Plot(props: PlotProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { joined, look, range, widthPx, heightPx, cursor } = props;

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = createPlot(element, latest);
    plot.current = made;
    const stopTouch = followPinch(made, latest);
    return () => {
      stopTouch();
      made.destroy();
      plot.current = undefined;
    };
  }, [look]);

  useEffect(() => {
    plot.current?.setSize({ width: widthPx, height: heightPx });
  }, [widthPx, heightPx]);

  useEffect(() => {
    const made = plot.current;
    if (made === undefined) return;
    made.batch(() => {
      if (made.data[0] !== joined.seconds) made.setData(plotData(joined), false);
      made.setScale('x', inSeconds(range));
    });
  }, [joined, range]);

  useEffect(() => showCursor(plot.current, cursor), [cursor, look, joined]);

  return <div class="plot" ref={place} aria-hidden="true" />;
}

const inSeconds = ({ from, to }: TimeRange) => ({ min: from / 1000, max: to / 1000 });

function createPlot(element: HTMLElement, latest: { readonly current: PlotProps }): UPlot {
  const { joined, look, range, widthPx, heightPx } = latest.current;
  const made = new UPlot(
    {
      ...plotOptions(look),
      width: widthPx,
      height: heightPx,
      legend: { show: false },
      // At the right half of the last label of the time axis; at the top the unit is written.
      padding: [look.lines.length === 0 ? 4 : 22, 28, look.hasTimes ? 0 : 8, 0],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: { size: 9 },
        focus: { prox: -1 },
        // Far from any value of its own a line has no point at the cursor.
        hover: { prox: 40 },
      },
      hooks: {
        draw: [
          (plot) => {
            const { look: painted } = latest.current;
            paintMarks(plot, painted);
            if (!painted.isBars) paintOutliers(plot, painted);
          },
        ],
        ready: [(plot) => tellRoom(plot, latest)],
        setSize: [(plot) => tellRoom(plot, latest)],
        setCursor: [
          (plot) => {
            const { idx, event } = plot.cursor;
            // Without an event the cursor was put there by us.
            if (event === undefined || event === null) return;
            // Browsers tell of a tap once more, as of a mouse.
            if (performance.now() - (touchedAt.get(plot) ?? -tapMs) < tapMs) return;
            const seconds = idx === null || idx === undefined ? undefined : plot.data[0][idx];
            latest.current.onCursor(seconds === undefined ? undefined : seconds * 1000);
          },
        ],
        setSelect: [
          (plot) => {
            const { select, posToVal } = plot;
            if (select.width < 8) return;
            const from = posToVal(select.left, 'x') * 1000;
            const to = posToVal(select.left + select.width, 'x') * 1000;
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            latest.current.onRange(rangeBetween(from, to));
          },
        ],
      },
    },
    plotData(joined),
    element,
  );
  made.setScale('x', inSeconds(range));
  return made;
}

function tellRoom({ bbox }: UPlot, latest: { readonly current: PlotProps }): void {
  const leftPx = Math.round(bbox.left / devicePixelRatio);
  const widthPx = Math.round(bbox.width / devicePixelRatio);
  latest.current.onRoom({ leftPx, widthPx });
}

function showCursor(plot: UPlot | undefined, at: number | undefined): void {
  if (plot === undefined) return;
  const left = at === undefined ? -10 : plot.valToPos(at / 1000, 'x');
  if (Math.abs((plot.cursor.left ?? -10) - left) < 1) return;
  plot.setCursor({ left, top: at === undefined ? -10 : 10 }, false);
}

/** Two fingers zoom around their middle; one finger moves the cursor and may scroll the page. */
function followPinch(plot: UPlot, latest: { readonly current: PlotProps }): () => void {
  const { over } = plot;
  let start:
    | { readonly distance: number; readonly middle: number; readonly range: TimeRange }
    | undefined;
  let wanted: TimeRange | undefined;

  const touchesOf = (event: TouchEvent) => {
    const [one, other] = [event.touches[0], event.touches[1]];
    if (one === undefined || other === undefined) return undefined;
    const { left } = over.getBoundingClientRect();
    return {
      distance: Math.max(10, Math.abs(one.clientX - other.clientX)),
      middle: plot.posToVal((one.clientX + other.clientX) / 2 - left, 'x') * 1000,
    };
  };
  const begin = (event: TouchEvent): void => {
    const touches = touchesOf(event);
    if (touches !== undefined) start = { ...touches, range: latest.current.range };
  };
  const move = (event: TouchEvent): void => {
    const touches = touchesOf(event);
    if (touches === undefined || start === undefined) return;
    event.preventDefault();
    wanted = zoomed(start.range, start.distance / touches.distance, start.middle);
    plot.setScale('x', { min: wanted.from / 1000, max: wanted.to / 1000 });
  };
  const end = (event: TouchEvent): void => {
    if (event.touches.length > 0 || wanted === undefined) return;
    latest.current.onRange(wanted);
    start = undefined;
    wanted = undefined;
  };
  over.addEventListener('touchstart', begin, { passive: true });
  over.addEventListener('touchmove', move, { passive: false });
  over.addEventListener('touchend', end);
  const slide = followFinger(plot, latest);
  return () => {
    over.removeEventListener('touchstart', begin);
    over.removeEventListener('touchmove', move);
    over.removeEventListener('touchend', end);
    slide();
  };
}

/** When a finger was on a plot last, by performance.now(). */
const touchedAt = new WeakMap<UPlot, number>();
/** How long after a touch what comes of a mouse is the finger's. */
const tapMs = 1_000;

/** How far a finger reaches to either side of where it is felt. */
const fingerPx = 18;

/** The index of the point that stands out under a finger. */
function outstandingNear(plot: UPlot, { lines }: PlotLook, left: number): number | undefined {
  const reach = [plot.posToIdx(left - fingerPx), plot.posToIdx(left + fingerPx)] as const;
  const { min, max } = plot.scales[valueScale] ?? {};
  const near = lines.flatMap(({ isHidden, isBefore }, line) =>
    isHidden || isBefore ? [] : [pointsInView(plot, line, reach)],
  );
  return outstandingIndex(near, (max ?? 0) - (min ?? 0));
}

/** One finger on the plot moves the cursor: phones have no hover. */
function followFinger(plot: UPlot, latest: { readonly current: PlotProps }): () => void {
  const { over } = plot;
  let tapped = Number.NaN;
  const point = (event: TouchEvent): void => {
    const touch = event.touches.length === 1 ? event.touches[0] : undefined;
    if (touch === undefined) return;
    const left = touch.clientX - over.getBoundingClientRect().left;
    touchedAt.set(plot, performance.now());
    if (event.type === 'touchstart') tapped = left;
    // A finger that trembles still taps; one that slides means each point that it passes.
    const isTap = Math.abs(left - tapped) < fingerPx / 2;
    if (!isTap) tapped = Number.NaN;
    const meant = isTap ? outstandingNear(plot, latest.current.look, tapped) : undefined;
    const seconds = plot.data[0][meant ?? plot.posToIdx(left)];
    if (seconds !== undefined) latest.current.onCursor(seconds * 1000);
  };
  over.addEventListener('touchstart', point, { passive: true });
  over.addEventListener('touchmove', point, { passive: true });
  return () => {
    over.removeEventListener('touchstart', point);
    over.removeEventListener('touchmove', point);
  };
}
