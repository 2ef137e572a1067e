import type { DeviceSnapshot } from '../domain/datapoints/snapshots.ts';
import type { Device } from '../domain/devices/device.ts';
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
}

// Devices never change in place: a changed one is another object. So what was written once holds
// for as long as the device is in memory; it can be seen in the speed only.
const fixedTexts = new WeakMap<Spelling, WeakMap<Device, FixedText>>();

/** The same text as JSON.stringify(deviceToWire(snapshot)), with only the last values made anew. */
export function deviceText(
  { device, lastValueOf }: DeviceSnapshot,
  spelling: Spelling = v2Spelling,
): string {
  const fixed = fixedTexts.get(spelling)?.get(device) ?? writeFixedText(device, spelling);
  let sensors = '';
  device.sensors.forEach((sensor, at) => {
    const last = lastValueOf(sensor);
    const value = last === undefined ? '' : lastValueText(last);
    const fields = last === undefined ? '' : `,"last_value":${value},"value":${value}`;
    sensors += `${at === 0 ? '' : ','}${fixed.sensors[at]}${fields}}`;
  });
  return fixed.before + sensors + fixed.after;
}

function writeFixedText(device: Device, spelling: Spelling): FixedText {
  const message = spelling.device(deviceToWire({ device, lastValueOf: () => undefined }));
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
