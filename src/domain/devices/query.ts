import type { JsonValue } from '../../lib/json.ts';
import type { Device } from './device.ts';

/**
 * The filter language of lists [spec 4, contract 5]: `field==criteria`, tests joined by `;` (AND).
 * Parsed once, then asked of many devices.
 */
export interface Filter {
  readonly source: string;
}

/** The last value of a sensor of the device in question. */
export type LastValueOf = (sensorId: string) => JsonValue | undefined;

/** Whether the device passes every test of the filter. */
export function matches(_filter: Filter, _device: Device, _lastValueOf: LastValueOf): boolean {
  throw new Error('not written yet');
}
