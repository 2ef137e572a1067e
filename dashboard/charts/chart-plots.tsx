import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { language } from '../i18n/i18n.ts';
import { theme } from '../state/theme.ts';
import type { LegendEntry } from './chart-legend.tsx';
import type { ChartProps } from './chart-props.ts';
import { readPalette } from './colors.ts';
import { type Columns, emptyColumns } from './columns.ts';
import { joinLines } from './joined.ts';
import { type Panel, panelHeight, panelsOf, timeAxisPx } from './panels.ts';
import { Plot, type PlotRoom } from './plot.tsx';
import type { PlotLine, PlotLook } from './plot-options.ts';
import { spanOf, type TimeRange } from './ranges.ts';
import { StepLane } from './step-lane.tsx';

const narrowPx = 560;

export interface ChartPlotsProps {
  readonly entries: readonly LegendEntry[];
  readonly sensors: ChartProps['sensors'];
  readonly isThinned: boolean;
  /** Counts live changes of the columns, which grow in place. */
  readonly version: number;
  /** Of the period before, in the order of the entries. */
  readonly before: readonly Columns[] | undefined;
  readonly range: TimeRange;
  readonly zone: string;
  readonly widthPx: number;
  readonly cursor: number | undefined;
  readonly firings: readonly number[];
  readonly onCursor: (at: number | undefined) => void;
  readonly onRange: (range: TimeRange) => void;
}

/** A plot for each unit over one time axis, and the lanes of texts below them. */
export function ChartPlots(props: ChartPlotsProps): JSX.Element {
  const { entries, sensors, range, widthPx, zone } = props;
  const [room, setRoom] = useState<PlotRoom>({ leftPx: 56, widthPx: Math.max(0, widthPx - 84) });
  const panels = panelsOf(sensors);
  return (
    <>
      {panels.map((panel, index) => (
        <PanelPlot
          key={panel.key}
          {...props}
          panel={panel}
          heightPx={panelHeight(panels, widthPx < narrowPx)}
          isLast={index === panels.length - 1}
          onRoom={setRoom}
        />
      ))}
      {entries.map(({ key, name, columns, isHidden }, index) =>
        isHidden || (columns.steps.length === 0 && sensors[index]?.shape !== 'text') ? null : (
          <StepLane key={key} name={name} steps={columns.steps} {...{ range, room, zone }} />
        ),
      )}
    </>
  );
}

/** One plot: everything of one unit. */
function PanelPlot(
  props: ChartPlotsProps & {
    readonly panel: Panel;
    readonly heightPx: number;
    readonly isLast: boolean;
    readonly onRoom: (room: PlotRoom) => void;
  },
): JSX.Element {
  const { panel, isLast, entries, sensors, before, range, widthPx, zone, version } = props;
  const { members, isBars, unit } = panel;
  const scheme = useScheme();
  const looks = members.map((place): PlotLine => {
    const { isStale = false, threshold } = sensors[place] ?? {};
    const isHidden = entries[place]?.isHidden === true;
    return { ...{ color: place, isBefore: false, isStale, isHidden, threshold } };
  });
  const lines = before === undefined ? looks : [...looks, ...looks.map(asBefore)];
  const rest = {
    ...{ isThinned: props.isThinned, isBars, zone, hasTimes: isLast },
    ...{ isNarrow: widthPx < narrowPx, firings: isLast ? props.firings : [] },
    language: language.value,
  };
  const text = JSON.stringify([lines, rest, scheme]);
  const look = useMemo(
    (): PlotLook => ({ lines, ...rest, palette: readPalette(document.documentElement) }),
    [text],
  );
  const own = members.map((place) => entries[place]?.columns ?? emptyColumns());
  const then = members.map((place) => before?.[place] ?? emptyColumns());
  const joined = useMemo(() => {
    const shiftMs = spanOf(range);
    const now = own.map((columns) => ({ columns, shiftMs: 0, isBars }));
    const past = then.map((columns) => ({ columns, shiftMs, isBars }));
    return joinLines(before === undefined ? now : [...now, ...past]);
  }, [...own, ...(before === undefined ? [] : then), version, before === undefined, text]);
  return (
    <div class="panel">
      {unit !== '' && (
        <span class="panel-unit small quiet" aria-hidden="true">
          {unit}
        </span>
      )}
      <Plot
        {...{ joined, look, range, widthPx }}
        heightPx={props.heightPx + (isLast ? timeAxisPx : 0)}
        cursor={props.cursor}
        onCursor={props.onCursor}
        onRange={props.onRange}
        onRoom={props.onRoom}
      />
    </div>
  );
}

const asBefore = (line: PlotLine): PlotLine => ({ ...line, isBefore: true, threshold: undefined });

/** Changes when the colours do: by the own choice, or by the system's. */
function useScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return `${theme.value} ${isDark}`;
}
