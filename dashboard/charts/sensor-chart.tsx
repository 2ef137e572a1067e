import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { describeZone, formatSpan, ownZone } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import { theme } from '../state/theme.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { ChartLegend } from './chart-legend.tsx';
import type { ChartProps } from './chart-props.ts';
import { ChartTable } from './chart-table.tsx';
import { readPalette } from './colors.ts';
import { emptyColumns } from './columns.ts';
import { EmptyNote } from './empty-note.tsx';
import { joinLines } from './joined.ts';
import { Plot, type PlotRoom } from './plot.tsx';
import type { PlotLine, PlotLook } from './plot-options.ts';
import { RangeControls } from './range-controls.tsx';
import { type Preset, presetRange, rangeBefore, spanOf, type TimeRange } from './ranges.ts';
import { instantsOf, movedCursor } from './readout.ts';
import { StepLane } from './step-lane.tsx';
import { type ShownHistory, useHistory } from './use-history.ts';

const narrowPx = 560;

/** All sensors on one time axis, with everything around it. */
export function SensorChart(props: ChartProps): JSX.Element {
  const { sensors, firings = [], initialPreset = 'day', lastAt } = props;
  const [preset, setPreset] = useState<Preset | undefined>(initialPreset);
  const [range, setRange] = useState<TimeRange>(() => presetRange(initialPreset, Date.now()));
  const [isCompared, setCompared] = useState(false);
  const [isTable, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(place);
  const shown = useHistory({ sensors, range, endsNow: preset !== undefined, widthPx });
  const before = useHistory({
    sensors,
    range: isCompared ? rangeBefore(range) : undefined,
    widthPx,
  });
  const columns = sensors.map((_, index) => shown.history?.columns[index] ?? emptyColumns());
  const visible = preset === undefined ? range : sliding(range, columns);
  const showRange = (next: TimeRange): void => {
    setPreset(undefined);
    setRange(next);
    setCursor(undefined);
  };
  const showPreset = (next: Preset): void => {
    setPreset(next);
    setRange(presetRange(next, Date.now()));
    setCursor(undefined);
  };
  const key = ({ deviceId, sensorId }: ChartProps['sensors'][number]): string =>
    `${deviceId}/${sensorId}`;
  const entries = sensors.map((sensor, index) => ({
    ...{ key: key(sensor), name: sensor.name, unit: sensor.unit ?? '' },
    ...{ columns: columns[index] ?? emptyColumns(), isHidden: hidden.has(key(sensor)) },
  }));
  const isEmpty = columns.every(({ times, steps }) => times.length + steps.length === 0);
  const moveCursor = (event: KeyboardEvent): void => {
    const by = cursorKeys[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setCursor(movedCursor(instantsOf(columns), cursor, by));
  };

  return (
    <figure class="chart stack-tight" aria-label={chartTitle(props)}>
      <RangeControls range={visible} preset={preset} onPreset={showPreset} onRange={showRange} />
      <ChartLegend
        entries={entries}
        cursor={cursor}
        onToggle={(name) => setHidden(toggled(hidden, name))}
      />
      {shown.error !== undefined && <ErrorBox error={shown.error} onRetry={shown.retry} />}
      <section
        class={shown.isLoading ? 'chart-place is-loading' : 'chart-place'}
        ref={place}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move its cursor.
        tabIndex={0}
        aria-label={t('chart.keys')}
        aria-busy={shown.isLoading}
        onKeyDown={moveCursor}
        onMouseLeave={() => setCursor(undefined)}
      >
        {!isTable && widthPx > 0 && (
          <Lines
            {...{ entries, shown, widthPx, cursor, firings, sensors }}
            before={isCompared ? before : undefined}
            range={visible}
            onCursor={setCursor}
            onRange={showRange}
          />
        )}
        {isTable && <ChartTable sensors={entries.filter(({ isHidden }) => !isHidden)} />}
        {isEmpty && !shown.isLoading && shown.error === undefined && !isTable && (
          <EmptyNote lastAt={lastAt} onShow={(at) => showRange(around(at, spanOf(range)))} />
        )}
      </section>
      <figcaption class="row row-apart small quiet">
        <span>{noteOf(shown, sensors)}</span>
        <span class="row">
          <label class="choice">
            <input
              type="checkbox"
              checked={isCompared}
              onChange={({ currentTarget }) => setCompared(currentTarget.checked)}
            />
            {t('chart.compare')}
          </label>
          <button type="button" class="button button-quiet" onClick={() => setTable(!isTable)}>
            {t(isTable ? 'chart.asChart' : 'chart.asTable')}
          </button>
        </span>
      </figcaption>
    </figure>
  );
}

const cursorKeys: Readonly<Record<string, number | 'first' | 'last'>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: 'first',
  End: 'last',
};

const chartTitle = ({ sensors }: ChartProps): string =>
  t('chart.title', { names: sensors.map(({ name }) => name).join(', ') });

const around = (at: number, span: number): TimeRange => ({
  from: at - span * 0.9,
  to: at + span * 0.1,
});

function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** A range that ends now goes along with the values that come in. */
function sliding(range: TimeRange, columns: readonly { readonly times: readonly number[] }[]) {
  const last = Math.max(range.to, ...columns.map(({ times }) => times.at(-1) ?? 0));
  return last === range.to ? range : { from: last - spanOf(range), to: last };
}

function noteOf({ history }: ShownHistory, sensors: ChartProps['sensors']): string {
  const zone = t('chart.zone', { zone: describeZone(ownZone(), Date.now()) });
  const scales = new Set(sensors.map(({ unit = '' }) => unit)).size;
  return [
    ...(history?.isThinned === true
      ? [t('chart.thinned', { interval: formatSpan(history.interval.ms, t) })]
      : []),
    ...(scales > 2 ? [t('chart.moreAxes')] : []),
    zone,
  ].join(' ');
}

function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

interface LinesProps {
  readonly entries: Parameters<typeof ChartLegend>[0]['entries'];
  readonly sensors: ChartProps['sensors'];
  readonly shown: ShownHistory;
  readonly before: ShownHistory | undefined;
  readonly range: TimeRange;
  readonly widthPx: number;
  readonly cursor: number | undefined;
  readonly firings: readonly number[];
  readonly onCursor: (at: number | undefined) => void;
  readonly onRange: (range: TimeRange) => void;
}

/** The plot and the lanes of texts below it. */
function Lines(props: LinesProps): JSX.Element {
  const { entries, shown, before, range, widthPx } = props;
  const [room, setRoom] = useState<PlotRoom>({ leftPx: 52, widthPx: Math.max(0, widthPx - 64) });
  const scheme = useScheme();
  const looks = entries.map(({ unit, isHidden }, index): PlotLine => {
    const { isStale = false, threshold } = props.sensors[index] ?? {};
    return { ...{ unit, color: index, isBefore: false, isStale, isHidden, threshold } };
  });
  const lines = before === undefined ? looks : [...looks, ...looks.map(asBefore)];
  const isThinned = shown.history?.isThinned === true;
  const isNarrow = widthPx < narrowPx;
  const text = JSON.stringify([lines, isThinned, isNarrow, props.firings, language.value, scheme]);
  const look = useMemo(
    (): PlotLook => ({
      ...{ lines, isThinned, isNarrow, firings: props.firings, language: language.value },
      palette: readPalette(document.documentElement),
    }),
    [text],
  );
  const joined = useMemo(() => {
    const shiftMs = spanOf(range);
    const now = entries.map(({ columns }) => ({ columns, shiftMs: 0 }));
    const then = entries.map((_, index) => ({
      columns: before?.history?.columns[index] ?? emptyColumns(),
      shiftMs,
    }));
    return joinLines(before === undefined ? now : [...now, ...then]);
  }, [shown.history, shown.version, before?.history, before === undefined, text]);
  return (
    <>
      <Plot
        {...{ joined, look, range, widthPx }}
        heightPx={isNarrow ? 260 : 340}
        cursor={props.cursor}
        onCursor={props.onCursor}
        onRange={props.onRange}
        onRoom={setRoom}
      />
      {entries.map(({ key, name, columns, isHidden }) =>
        isHidden || columns.steps.length === 0 ? null : (
          <StepLane key={key} name={name} steps={columns.steps} range={range} room={room} />
        ),
      )}
    </>
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
