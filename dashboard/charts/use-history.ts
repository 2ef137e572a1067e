import { useEffect, useRef, useState } from 'preact/hooks';
import type { Calibration } from '../api/types.ts';
import type { LiveDatapoint } from '../live/live-values.ts';
import { loadLiveValues } from '../state/live-devices.ts';
import { api } from '../state/session.ts';
import { appendPoint } from './columns.ts';
import { type History, readHistory, type SensorKey } from './history.ts';
import type { TimeRange } from './ranges.ts';

/** The history of sensors as it is loaded, and grows. */
export interface ShownHistory {
  readonly history: History | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Counts live changes: columns grow in place, so that 60 values a second cost nothing. */
  readonly version: number;
  readonly retry: () => void;
}

/** A width that few resizes change, so that turning a phone asks anew and scroll bars do not. */
const widthStepPx = 160;

/** Reads what a chart needs whenever its range changes; what was there shows until then. */
export function useHistory(options: {
  readonly sensors: readonly (SensorKey & { readonly calib?: Calibration })[];
  readonly range: TimeRange | undefined;
  readonly endsNow?: boolean;
  readonly widthPx: number;
}): ShownHistory {
  const { sensors, range, endsNow = false, widthPx } = options;
  const [state, setState] = useState<Omit<ShownHistory, 'retry' | 'version'>>({
    history: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const identity = sensors.map(({ deviceId, sensorId }) => `${deviceId}/${sensorId}`).join();
  const corrections = JSON.stringify(sensors.map(({ calib }) => calib));
  const width = Math.ceil(widthPx / widthStepPx) * widthStepPx;
  const wanted = useRef(sensors);
  wanted.current = sensors;

  useEffect(() => {
    if (range === undefined || width === 0) return;
    const abort = new AbortController();
    const { signal } = abort;
    setState(({ history }) => ({ history, error: undefined, isLoading: true }));
    readHistory(api, { sensors: wanted.current, range, endsNow, widthPx: width, signal })
      .then((history) => {
        if (!signal.aborted) setState({ history, error: undefined, isLoading: false });
      })
      .catch((error: unknown) => {
        if (!signal.aborted) setState(({ history }) => ({ history, error, isLoading: false }));
      });
    return () => abort.abort();
  }, [identity, corrections, range?.from, range?.to, endsNow, width, turn]);

  const version = useLiveColumns(sensors, identity, state.history);
  return { ...state, version, retry: () => setTurn((before) => before + 1) };
}

/** Adds what comes in to the columns; answers a number that changes with them, once a frame. */
function useLiveColumns(
  sensors: readonly SensorKey[],
  identity: string,
  history: History | undefined,
): number {
  const [version, setVersion] = useState(0);
  const latest = useRef({ sensors, history });
  latest.current = { sensors, history };

  useEffect(() => {
    const stops: (() => void)[] = [];
    let isStopped = false;
    const take = (deviceId: string, datapoints: readonly LiveDatapoint[]): void => {
      const { sensors: wanted, history: shown } = latest.current;
      if (shown === undefined) return;
      for (const { sensorId, at, value } of datapoints) {
        const index = wanted.findIndex(
          (sensor) => sensor.sensorId === sensorId && sensor.deviceId === deviceId,
        );
        const columns = shown.columns[index];
        if (columns !== undefined) appendPoint(columns, at, value);
      }
      setVersion((before) => before + 1);
    };
    loadLiveValues()
      .then((live) => {
        if (isStopped) return;
        for (const id of new Set(latest.current.sensors.map(({ deviceId }) => deviceId))) {
          const watch = live.watchDevice({ id });
          watch.listen((datapoints) => take(id, datapoints));
          stops.push(() => watch.stop());
        }
      })
      .catch(() => {
        // Without its code there is no live connection; the history shows.
      });
    return () => {
      isStopped = true;
      for (const stop of stops) stop();
    };
  }, [identity]);
  return version;
}
