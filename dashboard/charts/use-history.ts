import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Calibration } from '../api/types.ts';
import type { LiveDatapoint } from '../live/live-values.ts';
import { correctionsMade } from '../state/corrections.ts';
import { liveState, loadLiveValues } from '../state/live-devices.ts';
import { useRecovery } from '../state/recovery.ts';
import { api } from '../state/session.ts';
import { appendPoint } from './columns.ts';
import { type History, hasFew, isCloser, readHistory } from './history.ts';
import type { SensorKey } from './history-query.ts';
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

/** What a chart reads. */
export interface WantedHistory {
  readonly sensors: readonly (SensorKey & { readonly calib?: Calibration })[];
  /** All sensors of these devices are among those drawn: one name instead of many. */
  readonly devices?: readonly string[] | undefined;
  readonly range: TimeRange | undefined;
  readonly endsNow?: boolean;
  readonly widthPx: number;
  readonly zone?: string | undefined;
  /** Every datapoint is wanted, as in a table; where they are many, averages come. */
  readonly isExact?: boolean;
}

/** A width that few resizes change, so that turning a phone asks anew and scroll bars do not. */
const widthStepPx = 160;

/** The averages that were read last, and for which range: what is known when somebody zooms. */
interface Overview {
  readonly identity: string;
  readonly range: TimeRange;
  readonly history: History;
}

/** Reads what a chart needs whenever its range changes; what was there shows until then. */
export function useHistory(options: WantedHistory): ShownHistory {
  const { sensors, range, endsNow = false, widthPx, zone, isExact = false } = options;
  const [state, setState] = useState<Omit<ShownHistory, 'retry' | 'version'>>({
    history: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const identity = sensors.map(({ deviceId, sensorId }) => `${deviceId}/${sensorId}`).join();
  const calibrations = JSON.stringify(sensors.map(({ calib }) => calib));
  const made = correctionsMade.value;
  const width = Math.ceil(widthPx / widthStepPx) * widthStepPx;
  const wanted = useRef(options);
  wanted.current = options;
  const overview = useRef<Overview>(undefined);

  useLayoutEffect(() => {
    if (range === undefined || width === 0) return;
    const abort = new AbortController();
    const { signal } = abort;
    const { sensors: named, devices } = wanted.current;
    const known = overview.current?.identity === identity ? overview.current : undefined;
    const isClose = known !== undefined && isCloser(range, known.range);
    const isRaw =
      (isExact || isClose) && hasFew(known?.history, range, isExact ? undefined : width);
    // An error stays until something came: it is what counts the attempts.
    setState((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    const wish = { sensors: named, devices, range, endsNow, widthPx: width, zone };
    const read = async (asRaw: boolean): Promise<void> => {
      const history = await readHistory(api, { ...wish, isRaw: asRaw, signal });
      if (signal.aborted) return;
      if (history.isThinned) overview.current = { identity, range, history };
      // Averages tell how many there are; few are drawn as they are.
      const isFew = !asRaw && hasFew(history, range, isExact ? undefined : width);
      setState({ history, error: undefined, isLoading: isFew });
      if (isFew) await read(true);
    };
    read(isRaw).catch((error: unknown) => {
      if (!signal.aborted) setState(({ history }) => ({ history, error, isLoading: false }));
    });
    return () => abort.abort();
  }, [identity, calibrations, made, range?.from, range?.to, endsNow, width, zone, isExact, turn]);

  const retry = (): void => setTurn((before) => before + 1);
  useRecovery(state.error, retry);
  useGapsFilled(range !== undefined && endsNow, retry);
  const version = useLiveColumns(sensors, identity, state.history);
  return { ...state, version, retry };
}

/** What came while nothing was heard live is read once the connection is back. */
function useGapsFilled(isWanted: boolean, fill: () => void): void {
  const state = liveState.value;
  const wasLive = useRef(state === 'live');
  const isAway = useRef(false);
  useEffect(() => {
    if (state === 'live' && isAway.current && isWanted) fill();
    if (state === 'live') wasLive.current = true;
    isAway.current = wasLive.current && state !== 'live';
  }, [state, isWanted]);
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
