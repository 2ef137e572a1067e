import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { nowOrStart } from '../api/early-answers.ts';
import { type ChartView, chartViewPath, readChartView } from './chart-view.ts';
import { type Preset, presetRange, type TimeRange } from './ranges.ts';

/** The stretch of time that a chart shows, and ways to change it. */
export interface ShownView {
  readonly preset: Preset | undefined;
  readonly range: TimeRange;
  readonly showPreset: (preset: Preset) => void;
  readonly showRange: (range: TimeRange) => void;
}

/** Kept by the chart, or by the address: then it can be passed on, and is there after Back. */
export function useChartView(first: Preset, isInAddress: boolean): ShownView {
  const { path, query, route } = useLocation();
  const [own, setOwn] = useState<ChartView>({ preset: first });
  // Counts taps, so that "1 day" tapped again is the last day as of now.
  const [turn, setTurn] = useState(0);
  const view = isInAddress ? readChartView(query, first) : own;
  const show = (next: ChartView): void => {
    setTurn((before) => before + 1);
    if (isInAddress) route(chartViewPath(path, query, { view: next, first }), true);
    else setOwn(next);
  };
  const { preset } = view;
  const range = useMemo(
    () => view.range ?? presetRange(view.preset, nowOrStart(Date.now())),
    [preset, view.range?.from, view.range?.to, turn],
  );
  return {
    preset,
    range,
    showPreset: (next) => show({ preset: next }),
    showRange: (next) => show({ range: next }),
  };
}
