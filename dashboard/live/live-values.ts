import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { instantOf } from '../api/freshness.ts';
import type { Device, Sensor } from '../api/types.ts';
import { calibrated } from './calibration.ts';
import type { Connection, ConnectionParts, ConnectionState } from './connection.ts';
import { liveLimits } from './live-limits.ts';
import { createNewestValues, type NewestParts } from './newest-values.ts';
import type { Timers } from './timers.ts';
import { deviceFilters, type PushedValue, readValueMessage } from './value-message.ts';

/** A value that arrived while somebody was looking, calibrated as reads are. */
export interface LiveValue {
  readonly value: unknown;
  /** When it was measured; of devices without a clock, when it arrived. */
  readonly at: number;
}

/** polling: the live connection is away, and values are fetched every 15 s instead. */
export type LiveState = ConnectionState | 'polling';

/** One value for whoever draws all of them. */
export interface LiveDatapoint extends LiveValue {
  readonly sensorId: string;
}

/** A device that somebody looks at. */
export interface DeviceWatch {
  /**
   * By sensor id, the newest by time of what arrived since the watch began, or of all where the
   * last value had come late. Changes at most once a frame.
   */
  readonly values: ReadonlySignal<ReadonlyMap<string, LiveValue>>;
  /** What actuators were set to since, by actuator id. */
  readonly actuators: ReadonlySignal<ReadonlyMap<string, unknown>>;
  /** Every datapoint, in batches of at most one a frame; returns how to stop listening. */
  listen(listener: (datapoints: readonly LiveDatapoint[]) => void): () => void;
  stop(): void;
}

/** What a device is watched for. */
export type WatchedDevice = Pick<Device, 'id'> & { readonly sensors?: readonly Sensor[] };

/** The live values of all devices on a page, over one connection. */
export interface LiveValues {
  readonly state: ReadonlySignal<LiveState>;
  /** Watches from now on. Give the sensors as well where there are calibrated ones. */
  watchDevice(device: WatchedDevice): DeviceWatch;
  /** Watched devices were loaded: the newest value of each sensor is found out. */
  loaded(devices: readonly Device[]): void;
  /** Values were corrected: what is known of them counts no more. */
  forget(): void;
  /** Somebody else is logged in, or the network is back: connect anew, now. */
  reconnect(): void;
  close(): void;
}

/** What live values are made of. */
export interface LiveValuesParts {
  readonly connect: (events: Pick<ConnectionParts, 'onMessage' | 'onState'>) => Connection;
  /** The devices as they are now; those that are not there or not allowed are left out. */
  readonly fetchDevices: (deviceIds: readonly string[]) => Promise<readonly Device[]>;
  readonly fetchNewest: NewestParts['fetchNewest'];
  readonly timers: Timers;
  /** Calls back before the next frame is painted. */
  readonly onFrame: (callback: () => void) => void;
}

interface Entry {
  watchers: number;
  sensors: readonly Sensor[];
  readonly values: Signal<ReadonlyMap<string, LiveValue>>;
  readonly actuators: Signal<ReadonlyMap<string, unknown>>;
  readonly listeners: Set<(datapoints: readonly LiveDatapoint[]) => void>;
  pending: LiveDatapoint[];
  pendingActuators: Map<string, unknown>;
}

/** Connects when the first device is watched. */
export function createLiveValues(parts: LiveValuesParts): LiveValues {
  const { timers, fetchDevices } = parts;
  const entries = new Map<string, Entry>();
  const state = signal<LiveState>('connecting');
  let connection: Connection | undefined;
  let connectionState: ConnectionState = 'connecting';
  let isFrameDue = false;

  function flush(): void {
    isFrameDue = false;
    batch(() => {
      for (const entry of entries.values()) flushEntry(entry);
    });
  }

  function scheduleFlush(): void {
    if (isFrameDue) return;
    isFrameDue = true;
    parts.onFrame(flush);
  }

  function take(topic: string, payload: Uint8Array): void {
    const message = readValueMessage(topic, payload);
    const entry = message === undefined ? undefined : entries.get(message.deviceId);
    if (message === undefined || entry === undefined) return;
    if (message.kind === 'actuator') {
      entry.pendingActuators.set(message.id, message.values.at(-1)?.value);
    } else {
      addValues(entry, message.id, message.values, timers.now());
    }
    scheduleFlush();
  }

  const newest = createNewestValues({
    fetchNewest: parts.fetchNewest,
    onNewest: (deviceId, sensorId, datapoint) => {
      const entry = entries.get(deviceId);
      const at = instantOf(datapoint);
      if (entry === undefined || at === undefined) return;
      showNewest(entry, [{ sensorId, value: datapoint.value, at }]);
    },
  });

  const polling = createPolling({
    timers,
    fetchDevices,
    deviceIds: () => [...entries.keys()],
    onDevices: (devices) => {
      for (const device of devices) {
        const entry = entries.get(device.id);
        if (entry !== undefined) addPolled(entry, device);
      }
      state.value = 'polling';
      scheduleFlush();
    },
    onFailure: () => {
      state.value = connectionState;
    },
  });

  function follow(next: ConnectionState): void {
    connectionState = next;
    if (next === 'live') {
      polling.stop();
      void catchUp();
    } else {
      polling.start();
    }
    // While fetching works nobody has to worry about the connection.
    if (next === 'live' || state.peek() !== 'polling') state.value = next;
  }

  /** What came between loading a screen and hearing of its values, or while nothing was heard. */
  async function catchUp(): Promise<void> {
    const devices = await fetchDevices([...entries.keys()]).catch(() => []);
    for (const device of devices) {
      const entry = entries.get(device.id);
      if (entry !== undefined) addPolled(entry, device);
    }
    scheduleFlush();
  }

  function release(device: WatchedDevice, entry: Entry): void {
    entry.watchers -= 1;
    if (entry.watchers > 0) return;
    entries.delete(device.id);
    for (const filter of deviceFilters(device.id)) connection?.unsubscribe(filter);
  }

  return {
    state,
    watchDevice: (device) => {
      connection ??= parts.connect({ onMessage: take, onState: follow });
      const known = entries.get(device.id);
      const entry = known ?? createEntry();
      entry.watchers += 1;
      if (device.sensors !== undefined) setSensors(entry, device.sensors);
      if (known === undefined && entries.size < liveLimits.devicesMax) {
        entries.set(device.id, entry);
        for (const filter of deviceFilters(device.id)) connection.subscribe(filter);
      }
      return createWatch(entry, () => release(device, entry));
    },
    loaded: newest.ask,
    forget: () => {
      newest.forget();
      batch(() => {
        for (const entry of entries.values()) entry.values.value = new Map();
      });
    },
    reconnect: () => connection?.reconnect(),
    close: () => {
      polling.stop();
      connection?.close();
    },
  };
}

function createEntry(): Entry {
  return {
    watchers: 0,
    sensors: [],
    values: signal(new Map()),
    actuators: signal(new Map()),
    listeners: new Set(),
    pending: [],
    pendingActuators: new Map(),
  };
}

/** What came under another correction is no longer what a sensor says. */
function setSensors(entry: Entry, sensors: readonly Sensor[]): void {
  const textOf = (sensor: Sensor | undefined): string | undefined => JSON.stringify(sensor?.calib);
  const known = new Map(entry.sensors.map((sensor) => [sensor.id, sensor]));
  const changed = sensors.filter(
    (sensor) => known.has(sensor.id) && textOf(known.get(sensor.id)) !== textOf(sensor),
  );
  entry.sensors = sensors;
  if (changed.length === 0) return;
  const values = new Map(entry.values.peek());
  for (const { id } of changed) values.delete(id);
  entry.values.value = values;
}

function createWatch(entry: Entry, release: () => void): DeviceWatch {
  let isStopped = false;
  const own = new Set<(datapoints: readonly LiveDatapoint[]) => void>();
  return {
    values: entry.values,
    actuators: entry.actuators,
    listen: (listener) => {
      entry.listeners.add(listener);
      own.add(listener);
      return () => entry.listeners.delete(listener);
    },
    stop: () => {
      if (isStopped) return;
      isStopped = true;
      for (const listener of own) entry.listeners.delete(listener);
      release();
    },
  };
}

function addValues(
  entry: Entry,
  sensorId: string,
  values: readonly PushedValue[],
  now: number,
): void {
  const calib = entry.sensors.find(({ id }) => id === sensorId)?.calib;
  for (const { value, measuredAt } of values) {
    entry.pending.push({ sensorId, value: calibrated(value, calib), at: measuredAt ?? now });
  }
  const surplus = entry.pending.length - liveLimits.pendingValuesMax;
  if (surplus > 0) entry.pending.splice(0, surplus);
}

/** Reads calibrate already; only what is newer than what shows is news. */
function addPolled(entry: Entry, device: Device): void {
  for (const { id: sensorId, last_value } of device.sensors) {
    if (last_value === undefined) continue;
    const at = instantOf(last_value);
    const loaded = entry.sensors.find(({ id }) => id === sensorId)?.last_value;
    const shownAt = entry.values.peek().get(sensorId)?.at ?? (loaded && instantOf(loaded));
    if (at === undefined || (shownAt !== undefined && shownAt >= at)) continue;
    entry.pending.push({ sensorId, value: last_value.value, at });
  }
  for (const { id, value } of device.actuators) {
    if (value !== undefined && entry.actuators.peek().get(id) !== value) {
      entry.pendingActuators.set(id, value);
    }
  }
}

/** Whatever comes later, the newest by time shows [contract 15]. */
function showNewest(entry: Entry, datapoints: readonly LiveDatapoint[]): void {
  const values = new Map(entry.values.peek());
  for (const { sensorId, value, at } of datapoints) {
    if ((values.get(sensorId)?.at ?? at) <= at) values.set(sensorId, { value, at });
  }
  entry.values.value = values;
}

function flushEntry(entry: Entry): void {
  const { pending, pendingActuators } = entry;
  if (pending.length > 0) {
    entry.pending = [];
    showNewest(entry, pending);
    for (const listener of entry.listeners) listener(pending);
  }
  if (pendingActuators.size > 0) {
    entry.pendingActuators = new Map();
    entry.actuators.value = new Map([...entry.actuators.peek(), ...pendingActuators]);
  }
}

/** Fetches again and again while it is on; one fetch at a time. */
function createPolling({
  timers,
  fetchDevices,
  deviceIds,
  onDevices,
  onFailure,
}: Pick<LiveValuesParts, 'timers' | 'fetchDevices'> & {
  readonly deviceIds: () => readonly string[];
  readonly onDevices: (devices: readonly Device[]) => void;
  readonly onFailure: () => void;
}) {
  let stopTimer: (() => void) | undefined;
  // Counts starts: an answer that comes after a stop belongs to nobody.
  let run = 0;

  async function poll(own: number): Promise<void> {
    const ids = deviceIds();
    const devices = await fetchDevices(ids).catch(() => undefined);
    if (own !== run || stopTimer === undefined) return;
    if (devices === undefined) onFailure();
    else onDevices(devices);
    stopTimer = timers.after(liveLimits.pollMs, () => void poll(own));
  }

  return {
    start(): void {
      if (stopTimer !== undefined) return;
      run += 1;
      const own = run;
      stopTimer = timers.after(liveLimits.pollAfterMs, () => void poll(own));
    },
    stop(): void {
      stopTimer?.();
      stopTimer = undefined;
    },
  };
}
