import { effect, signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { instantOf } from '../api/freshness.ts';
import type { Device } from '../api/types.ts';
import type { DeviceWatch, LiveState, LiveValue, LiveValues } from '../live/live-values.ts';
import { correctionsMade } from './corrections.ts';

/** More devices than this are not watched live; a list this long is not read live either. */
const watchedMax = 120;

/** How new values come in; undefined until somebody has asked for live values. */
export const liveState = signal<LiveState | undefined>(undefined);

/** The corrections that live values were forgotten for. */
let forgotten = 0;

let loading: Promise<LiveValues> | undefined;

/** The live connection; its code is fetched when the first screen wants it. */
export function loadLiveValues(): Promise<LiveValues> {
  loading ??= import('../live/live.ts').then(({ liveValues }) => {
    const values = liveValues();
    effect(() => {
      liveState.value = values.state.value;
    });
    return values;
  });
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}

interface Changes {
  readonly values: ReadonlyMap<string, LiveValue>;
  readonly actuators: ReadonlyMap<string, unknown>;
}

/** The devices as they are now: what was loaded, and what has arrived since. */
export function useLiveDevices(devices: readonly Device[]): readonly Device[] {
  const [changes, setChanges] = useState<ReadonlyMap<string, Changes>>(new Map());
  // Watched anew when other devices or sensors are shown, not when the same ones are loaded again.
  const identity = JSON.stringify(
    devices.map(({ id, sensors }) => [id, sensors.map((sensor) => [sensor.id, sensor.calib])]),
  );
  useEffect(() => {
    // Nothing to hear of: nobody is told that a connection is on its way.
    if (devices.length === 0) return;
    const watched = devices.slice(0, watchedMax);
    const watches: DeviceWatch[] = [];
    let stopEffect: (() => void) | undefined;
    let isStopped = false;
    loadLiveValues()
      .then((live) => {
        if (isStopped) return;
        const byId = watched.map(({ id, sensors }) => {
          const watch = live.watchDevice({ id, sensors });
          watches.push(watch);
          return [id, watch] as const;
        });
        stopEffect = effect(() => {
          const now = byId.map(
            ([id, { values, actuators }]) =>
              [id, { values: values.value, actuators: actuators.value }] as const,
          );
          setChanges(new Map(now));
        });
      })
      .catch(() => {
        // Without its code there is no live connection; what was loaded shows.
      });
    return () => {
      isStopped = true;
      stopEffect?.();
      for (const watch of watches) watch.stop();
    };
  }, [identity]);
  const made = correctionsMade.value;
  useEffect(() => {
    if (devices.length === 0) return;
    let isCurrent = true;
    loadLiveValues()
      .then((live) => {
        if (!isCurrent) return;
        if (forgotten !== made) live.forget();
        forgotten = made;
        live.loaded(devices.slice(0, watchedMax));
      })
      .catch(() => {
        // Then what was pushed last shows.
      });
    return () => {
      isCurrent = false;
    };
  }, [devices, made]);
  return useMemo(
    () => devices.map((device) => merged(device, changes.get(device.id))),
    [devices, changes],
  );
}

function merged(device: Device, changes: Changes | undefined): Device {
  if (changes === undefined || changes.values.size + changes.actuators.size === 0) return device;
  return {
    ...device,
    sensors: device.sensors.map((sensor) => {
      const change = changes.values.get(sensor.id);
      const known = instantOf(sensor.last_value);
      if (change === undefined || (known !== undefined && known > change.at)) return sensor;
      const timestamp = new Date(change.at).toISOString();
      return { ...sensor, last_value: { value: change.value, timestamp } };
    }),
    actuators: device.actuators.map((actuator) =>
      changes.actuators.has(actuator.id)
        ? { ...actuator, value: changes.actuators.get(actuator.id) }
        : actuator,
    ),
  };
}
