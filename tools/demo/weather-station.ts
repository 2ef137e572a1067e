import { batterySensor } from './battery.ts';
import type { Equipment, Site } from './model.ts';
import { inSteps, jitter, within } from './noise.ts';
import { dayMs, hourMs, type Weather } from './weather.ts';

/** The bucket of the gauge tips every so many millimetres. */
const tipMm = 0.2;

/** What the gauge counted in a span of a day at most: tips, however short the spans are. */
function rainSince(weather: Weather, instant: number, spanMs: number): number {
  const from = instant - Math.min(spanMs, dayMs);
  const start = Math.floor(from / dayMs) * dayMs;
  const tipsUntil = (at: number) => Math.floor(weather.rainBetween(start, at) / tipMm);
  return inSteps((tipsUntil(instant) - tipsUntil(from)) * tipMm, tipMm);
}

/** Air, rain and pressure on a mast, with a battery that the sun charges. */
export function weatherStation(site: Site): Equipment {
  const { weather, key } = site;
  return {
    sensors: [
      {
        id: 'TC',
        name: 'Air temperature',
        sensingDevice: 'AirThermometer',
        quantityKind: 'AirTemperature',
        unit: 'DegreeCelsius',
        valueAt: (instant) =>
          inSteps(weather.temperatureAt(instant) + 0.15 * jitter(key, instant), 0.1),
      },
      {
        id: 'HUM',
        name: 'Air humidity',
        sensingDevice: 'AirHumiditySensor',
        quantityKind: 'AirHumidity',
        unit: 'Percent',
        valueAt: (instant) =>
          inSteps(within(weather.humidityAt(instant) + jitter(key ^ 1, instant), 0, 100), 0.5),
      },
      {
        id: 'RAIN',
        name: 'Rain',
        sensingDevice: 'RainFallSensor',
        quantityKind: 'Rainfall',
        unit: 'Millimetre',
        valueAt: (instant, spanMs = hourMs) => rainSince(weather, instant, spanMs),
      },
      {
        id: 'PRES',
        name: 'Air pressure',
        sensingDevice: 'AtmosphericPressureSensor',
        quantityKind: 'AtmosphericPressure',
        unit: 'Millibar',
        valueAt: (instant) =>
          inSteps(weather.pressureAt(instant) + 0.1 * jitter(key ^ 2, instant), 0.1),
      },
      batterySensor(site),
    ],
    actuators: [],
  };
}
