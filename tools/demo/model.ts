import type { NoiseKey } from './noise.ts';
import type { Place } from './places.ts';
import type { Weather } from './weather.ts';

/** One sensor of the demo: its description, and what it measures at any instant. */
export interface SensorModel {
  readonly id: string;
  readonly name: string;
  readonly sensingDevice: string;
  readonly quantityKind: string;
  readonly unit: string;
  /**
   * Undefined: the sensor is silent at that instant. What adds up, as rain does, is what came in
   * the `spanMs` before it: the time since the value before, an hour unless said otherwise.
   */
  readonly valueAt: (instant: number, spanMs?: number) => number | string | undefined;
}

/** Something that can be set on a device of the demo. */
export interface ActuatorModel {
  readonly id: string;
  readonly name: string;
  readonly actuatorKind: string;
  readonly valueType: 'string' | 'bool';
}

/** What one kind of device measures at a place. */
export interface Equipment {
  readonly sensors: readonly SensorModel[];
  readonly actuators: readonly ActuatorModel[];
}

/** Where a device stands, and its own stream of chance. */
export interface Site {
  readonly place: Place;
  readonly weather: Weather;
  readonly key: NoiseKey;
}
