import type { Device, Sensor } from '../../api/types.ts';

/** Sensors of several devices that measure the same, to be compared on one chart. */
export interface Quantity {
  /** The kind of quantity, or the unit where no kind is told. */
  readonly key: string;
  readonly sensors: readonly { readonly device: Device; readonly sensor: Sensor }[];
}

/** More lines than this nobody can tell apart. */
export const linesMax = 12;

/** What the devices measure, what most of them measure first. */
export function quantitiesOf(devices: readonly Device[]): readonly Quantity[] {
  const byKey = new Map<string, { device: Device; sensor: Sensor }[]>();
  for (const device of devices) {
    for (const sensor of device.sensors) {
      const key = sensor.quantity_kind ?? sensor.unit ?? sensor.id;
      const group = byKey.get(key);
      if (group === undefined) byKey.set(key, [{ device, sensor }]);
      else group.push({ device, sensor });
    }
  }
  return [...byKey]
    .map(([key, sensors]) => ({ key, sensors }))
    .sort((one, other) => other.sensors.length - one.sensors.length);
}
