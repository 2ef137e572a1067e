import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatSpan } from '../i18n/formats.ts';
import { t } from '../i18n/i18n.ts';
import { correctionsMade } from '../state/corrections.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { barInterval } from './bars.ts';
import { ChartLegend, type LegendEntry } from './chart-legend.tsx';
import { ChartPlots } from './chart-plots.tsx';
import type { ChartProps, Wrong } from './chart-props.ts';
import { ChartTable } from './chart-table.tsx';
import { type Columns, emptyColumns } from './columns.ts';
import { EmptyNote } from './empty-note.tsx';
import { plotsHeight } from './panels.ts';
import { RangeControls } from './range-controls.tsx';
import { rangeBefore, spanOf, type TimeRange } from './ranges.ts';
import { instantsOf, movedCursor } from './readout.ts';
import { useChartView } from './use-chart-view.ts';
import { type ShownHistory, useHistory } from './use-history.ts';
import { useSums } from './use-sums.ts';
import { WrongBar } from './wrong-bar.tsx';
import { usableZone, zoneIn } from './zone.ts';

type Sensors = ChartProps['sensors'];

const keyOf = ({ deviceId, sensorId }: Sensors[number]): string => `${deviceId}/${sensorId}`;

/** All sensors on one time axis, a plot for each unit, with everything around them. */
export function SensorChart(props: ChartProps): JSX.Element {
  const { sensors, devices, firings = [], initialPreset = 'day', lastAt } = props;
  const zone = usableZone(props.zone);
  const view = useChartView(initialPreset, props.isInAddress === true);
  const { preset, range } = view;
  const [isCompared, setCompared] = useState(false);
  const [isTable, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const [marked, setMarked] = useState<number | undefined>(undefined);
  /** A range that was drawn with the pointer ends with a click, which marks nothing. */
  const drawnAt = useRef(0);
  const place = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(place);
  // Kept before anything is drawn, so that nothing below has to move.
  const heightPx = plotsHeight(sensors, widthPx === 0 ? innerWidth : widthPx);
  const endsNow = preset !== undefined;
  const wish = { sensors, devices, zone, widthPx };
  const shown = useHistory({ ...wish, range, endsNow, isExact: isTable });
  const past = rangeBefore(range);
  const before = useHistory({ ...wish, range: isCompared ? past : undefined });
  const amounts = sensors.filter(({ shape }) => shape === 'sum');
  const sums = useSums({ sensors: amounts, range, endsNow, zone, version: shown.version });
  const sumsBefore = useSums({
    ...{ sensors: isCompared ? amounts : [], range: past, endsNow: false, zone, version: 0 },
  });
  const columnsOf = (from: ShownHistory, bars: typeof sums) =>
    sensors.map(
      (sensor, index): Columns =>
        sensor.shape === 'sum' && !isTable
          ? bars.columnsOf(sensor)
          : (from.history?.columns[index] ?? emptyColumns()),
    );
  const columns = columnsOf(shown, sums);
  const visible = endsNow ? sliding(range, shown.history?.columns ?? []) : range;
  const entries = sensors.map((sensor, index): LegendEntry => {
    const { name, unit = '' } = sensor;
    const isBars = sensor.shape === 'sum' && !isTable;
    return {
      ...{ key: keyOf(sensor), name, unit, isBars, isHidden: hidden.has(keyOf(sensor)) },
      columns: columns[index] ?? emptyColumns(),
      total: sums.totalOf(sensor),
      latest: endsNow ? props.latest?.[index] : undefined,
      threshold: isBars ? undefined : sensor.threshold,
    };
  });
  const isLoading = shown.isLoading || sums.isLoading;
  const isEmpty = columns.every(({ times, steps }) => times.length + steps.length === 0);
  const showRange = (next: TimeRange): void => {
    view.showRange(next);
    setCursor(undefined);
    setMarked(undefined);
    drawnAt.current = performance.now();
  };
  const made = correctionsMade.value;
  useEffect(() => {
    // What was marked may not be there any more.
    setMarked(undefined);
    setCursor(undefined);
  }, [made]);
  const mark = (): void => {
    if (performance.now() - drawnAt.current > clickMs) setMarked(cursor);
  };
  const moveCursor = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') mark();
    const by = cursorKeys[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setCursor(movedCursor(instantsOf(columns), cursor, by));
  };

  return (
    <figure class="chart stack-tight" aria-label={chartTitle(props)}>
      <RangeControls
        {...{ range: visible, preset, zone }}
        onPreset={(next) => {
          view.showPreset(next);
          setCursor(undefined);
          setMarked(undefined);
        }}
        onRange={showRange}
      />
      <ChartLegend
        {...{ entries, cursor, zone }}
        onToggle={(name) => setHidden(toggled(hidden, name))}
      />
      {shown.error !== undefined && <ErrorBox error={shown.error} onRetry={shown.retry} />}
      <section
        class={isLoading ? 'chart-place is-loading' : 'chart-place'}
        ref={place}
        style={isTable ? undefined : { '--plots-height': `${heightPx}px` }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move its cursor.
        tabIndex={0}
        aria-label={t('chart.keys')}
        aria-busy={isLoading}
        onKeyDown={moveCursor}
        onClick={mark}
        onMouseLeave={() => setCursor(marked)}
      >
        {!isTable && widthPx > 0 && (shown.history !== undefined || !isLoading) && (
          <ChartPlots
            {...{ entries, sensors, widthPx, cursor, firings, zone, version: shown.version }}
            isThinned={shown.history?.isThinned === true}
            before={isCompared ? columnsOf(before, sumsBefore) : undefined}
            range={visible}
            onCursor={setCursor}
            onRange={showRange}
          />
        )}
        {isTable && (
          <ChartTable sensors={entries.filter(({ isHidden }) => !isHidden)} zone={zone} />
        )}
        {isEmpty && !isLoading && shown.error === undefined && !isTable && (
          <EmptyNote {...{ lastAt, zone }} onShow={(at) => showRange(around(at, spanOf(range)))} />
        )}
      </section>
      {props.onWrong !== undefined && (
        <WrongBar
          {...{ marked, zone }}
          entry={entries[0]}
          onWrong={() => props.onWrong?.(wrongOf(visible, marked, columns[0]?.bucketMs))}
        />
      )}
      <figcaption class="row row-apart small quiet">
        <span class="chart-note">
          {noteOf(shown, { zone, range: visible, isBars: !isTable && isOfBars(sensors) })}
        </span>
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

/** A click that is a part of drawing a range comes within. */
const clickMs = 60;

const wrongOf = (range: TimeRange, marked: number | undefined, bucketMs = 1): Wrong =>
  marked === undefined ? { range } : { range, mark: { from: marked, to: marked + bucketMs - 1 } };

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

const isOfBars = (sensors: Sensors): boolean => sensors.every(({ shape }) => shape === 'sum');

/**
 * What a point stands for, and whose clock the times are on; always there, so that nothing moves.
 */
function noteOf(
  { history }: ShownHistory,
  about: { readonly zone: string; readonly range: TimeRange; readonly isBars: boolean },
): string {
  const { zone, range, isBars } = about;
  const note = t('chart.zone', { zone: zoneIn(zone, range) });
  if (isBars) {
    const { ms } = barInterval(spanOf(range));
    return `${t('chart.summed', { interval: formatSpan(ms, t) })} ${note}`;
  }
  if (history?.isThinned === false) return note;
  const interval = history === undefined ? '…' : formatSpan(history.interval.ms, t);
  return `${t('chart.downsampled', { interval })} ${note}`;
}

function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
