import { batterySensor } from './battery.ts';
import type { Equipment, Site } from './model.ts';
import { inSteps, jitter, within } from './noise.ts';
import { hourMs } from './weather.ts';

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
        name: 'Rain of the past hour',
        sensingDevice: 'RainFallSensor',
        quantityKind: 'Rainfall',
        unit: 'Millimetre',
        // The bucket of the gauge tips every fifth of a millimetre.
        valueAt: (instant) => inSteps(weather.rainBetween(instant - hourMs, instant), 0.2),
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
