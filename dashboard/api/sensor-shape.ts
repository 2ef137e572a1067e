import { numberOf } from '../i18n/formats.ts';
import type { Sensor } from './types.ts';

/** Kinds and quantities that have totals, if nobody said what a sensor measures. */
const amounts: ReadonlySet<string> = new Set([
  ...['Rainfall', 'Precipitation', 'WeatherPrecipitation', 'Energy'],
  ...['RainFallSensor', 'PrecipitationSensor', 'EnergyMeter'],
  ...['WiFiInterfaceEnergyMeter', 'LoRaInterfaceEnergyMeter'],
]);

/** Whether values of this kind add up, if nobody said what the sensor measures. */
export function isAmountKind({
  quantity_kind = '',
  sensor_kind = '',
  sensing_device = '',
}: Sensor) {
  return [quantity_kind, sensor_kind, sensing_device].some((name) => amounts.has(name));
}

/**
 * How a sensor is drawn: counters and amounts as bars of totals, what is no number as text, the
 * rest as a line.
 */
export function shapeOf(sensor: Sensor): 'line' | 'sum' | 'text' {
  const { measures, last_value } = sensor;
  const isText = last_value !== undefined && numberOf(last_value.value) === undefined;
  if (isText) return 'text';
  const hasTotals = measures === undefined ? isAmountKind(sensor) : measures !== 'gauge';
  return hasTotals ? 'sum' : 'line';
}
