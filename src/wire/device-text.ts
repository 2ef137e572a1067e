import type { DeviceSnapshot } from '../domain/datapoints/snapshots.ts';
import type { Device, Sensor } from '../domain/devices/device.ts';
import { lastValueText } from './datapoint.ts';
import { deviceToWire } from './device.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

/** The text of a device without last values, cut where they belong. */
interface FixedText {
  /** Up to and with the bracket that opens the sensors. */
  readonly before: string;
  /** Each up to the brace that closes it. */
  readonly sensors: readonly string[];
  readonly after: string;
  /** The device as it was read last, with the last values of then. */
  latest?: Latest;
}

interface Latest {
  readonly whole: WholeText;
  /** The sources of the text's last values, sensor by sensor; undefined: not known. */
  readonly values: readonly LastValue[] | undefined;
}

type LastValue = ReturnType<DeviceSnapshot['lastValueOf']>;

/** A text that is the same object for as long as it is the same text. */
export interface WholeText {
  readonly text: string;
}

// Devices never change in place: a changed one is another object. So what was written once holds
// for as long as the device is in memory; it can be seen in the speed only.
const fixedTexts = new WeakMap<Spelling, WeakMap<Device, FixedText>>();

/** Longer texts are not kept beside the device. */
const keptCharactersMax = 16_384;

/** Pieces of an answer are sent on when they have so many characters. */
const pieceCharacters = 65_536;

/**
 * The device as JSON text, the object of the last time while nothing has changed; undefined: a
 * last value is large, so it is written piece by piece.
 */
export function wholeDeviceText(
  snapshot: DeviceSnapshot,
  spelling: Spelling,
): WholeText | undefined {
  const { device, stableValueOf } = snapshot;
  const fixed = fixedTextOf(device, spelling);
  const { latest } = fixed;
  // Nearly always nothing was pushed since: then nothing is written.
  if (stableValueOf !== undefined && latest !== undefined) {
    if (isMadeOf(latest, device, stableValueOf)) return latest.whole;
  }
  const text = withLastValues(snapshot, fixed);
  if (text === undefined) return undefined;
  const whole = text === latest?.whole.text ? latest.whole : { text };
  if (text.length <= keptCharactersMax) {
    fixed.latest = { whole, values: stableValueOf && device.sensors.map(stableValueOf) };
  }
  return whole;
}

/** Whether each of its last values is made of the same object as then. */
function isMadeOf(
  { values }: Latest,
  { sensors }: Device,
  stableValueOf: (sensor: Sensor) => LastValue,
): boolean {
  if (values === undefined) return false;
  for (let at = 0; at < sensors.length; at += 1) {
    if (stableValueOf(sensors[at] as Sensor) !== values[at]) return false;
  }
  return true;
}

/** The device with its last values; undefined: one of these is large. */
function withLastValues(
  { device, lastValueOf }: DeviceSnapshot,
  fixed: FixedText,
): string | undefined {
  let text = fixed.before;
  for (let at = 0; at < device.sensors.length; at += 1) {
    const sensor = device.sensors[at];
    const last = sensor && lastValueOf(sensor);
    if (last === 'large') return undefined;
    text += `${at === 0 ? '' : ','}${fixed.sensors[at]}`;
    if (last !== undefined) {
      const value = lastValueText(last);
      text += `,"last_value":${value},"value":${value}`;
    }
    text += '}';
  }
  return text + fixed.after;
}

/**
 * The devices as JSON texts with commas between them, with only the last values made anew. Large
 * last values are read when they are next, so that few of them are in memory.
 */
export async function* deviceTexts(
  steps: AsyncIterable<readonly DeviceSnapshot[]>,
  spelling: Spelling = v2Spelling,
): AsyncGenerator<string> {
  let text = '';
  let separator = '';
  for await (const step of steps) {
    for (const snapshot of step) {
      const { device, lastValueOf, largeValueOf } = snapshot;
      const fixed = fixedTextOf(device, spelling);
      const small = withLastValues(snapshot, fixed);
      if (small !== undefined) {
        text += separator + small;
        separator = ',';
        if (text.length > pieceCharacters) {
          yield text;
          text = '';
        }
        continue;
      }
      text += separator + fixed.before;
      separator = ',';
      for (const [at, sensor] of device.sensors.entries()) {
        const brief = lastValueOf(sensor);
        let last = brief;
        if (brief === 'large') {
          yield text;
          text = '';
          last = await largeValueOf(sensor);
        }
        text += `${at === 0 ? '' : ','}${fixed.sensors[at]}`;
        // Twice, but for a large one not in one piece.
        const value = last === undefined || last === 'large' ? undefined : lastValueText(last);
        if (value !== undefined) text += `,"last_value":${value}`;
        if (text.length > pieceCharacters) {
          yield text;
          text = '';
        }
        text += value === undefined ? '}' : `,"value":${value}}`;
      }
      text += fixed.after;
    }
    if (text.length > pieceCharacters) {
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}

const fixedTextOf = (device: Device, spelling: Spelling): FixedText =>
  fixedTexts.get(spelling)?.get(device) ?? writeFixedText(device, spelling);

function writeFixedText(device: Device, spelling: Spelling): FixedText {
  const message = spelling.device(deviceToWire(device));
  const sensors = Object.entries(message).find(([name]) => name === spelling.sensors)?.[1];
  const whole = JSON.stringify({ ...message, [spelling.sensors]: [] });
  // Inside a string a quote is escaped, so this is the key; and only texts come before it.
  const key = `"${spelling.sensors}":[`;
  const cut = whole.indexOf(`${key}]`) + key.length;
  const fixed = {
    before: whole.slice(0, cut),
    sensors: (sensors as readonly object[]).map((sensor) => JSON.stringify(sensor).slice(0, -1)),
    after: whole.slice(cut),
  };
  const known = fixedTexts.get(spelling) ?? new WeakMap<Device, FixedText>();
  fixedTexts.set(spelling, known.set(device, fixed));
  return fixed;
}
