import { numberOf } from '../i18n/formats.ts';
import type { Sensor } from './types.ts';

/** Kinds and quantities that are amounts: each value adds to those before it. */
const amounts: ReadonlySet<string> = new Set([
  ...['Rainfall', 'Precipitation', 'WeatherPrecipitation', 'Energy'],
  ...['RainFallSensor', 'PrecipitationSensor', 'EnergyMeter'],
  ...['WiFiInterfaceEnergyMeter', 'LoRaInterfaceEnergyMeter'],
]);

/**
 * How a sensor is drawn: amounts as bars of sums, what is no number as text, the rest as a line.
 */
export function shapeOf(sensor: Sensor): 'line' | 'sum' | 'text' {
  const { quantity_kind = '', sensor_kind, sensing_device, last_value } = sensor;
  const isText = last_value !== undefined && numberOf(last_value.value) === undefined;
  if (isText) return 'text';
  const named = [quantity_kind, sensor_kind ?? '', sensing_device ?? ''];
  return named.some((name) => amounts.has(name)) ? 'sum' : 'line';
}
