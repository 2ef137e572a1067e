import { batterySensor } from './battery.ts';
import type { Equipment, Site } from './model.ts';
import { drift, inSteps, jitter, within } from './noise.ts';
import { dayMs, hourMs } from './weather.ts';

/** Temperature, oxygen and acidity of a pond: algae give oxygen by day and take it at night. */
export function fishPond(site: Site): Equipment {
  const { weather, key } = site;

  function waterTemperature(instant: number): number {
    // Water follows the air three hours late, and a third of it.
    const mean = weather.meanTemperatureAt(instant - dayMs / 2);
    const late = instant - 3 * hourMs;
    return mean + 0.8 + 0.34 * (weather.temperatureAt(late) - weather.meanTemperatureAt(late));
  }

  /** -1 at the end of the night, 1 in a sunny afternoon. */
  function growth(instant: number): number {
    const { solar } = weather;
    const day = solar.dayOf(instant);
    const wave = Math.cos(((solar.hourOf(instant) - 16) * Math.PI) / 12);
    const light = 1 - 0.5 * weather.cloudAt(solar.at(day, 12));
    return wave > 0 ? wave * light : wave;
  }

  function oxygen(instant: number): number {
    const algae = 0.34 + 0.06 * drift(key ^ 0x41, instant, 6 * dayMs);
    const share = 0.72 + algae * growth(instant);
    return within(saturation(waterTemperature(instant)) * share, 0.4, 16);
  }

  return {
    sensors: [
      {
        id: 'WT',
        name: 'Water temperature',
        sensingDevice: 'WaterThermometer',
        quantityKind: 'WaterTemperature',
        unit: 'DegreeCelsius',
        valueAt: (instant) => inSteps(waterTemperature(instant) + 0.05 * jitter(key, instant), 0.1),
      },
      {
        id: 'DO',
        name: 'Dissolved oxygen',
        sensingDevice: 'WaterO2IonSensor',
        quantityKind: 'ChemicalAgentWaterConcentrationO2',
        unit: 'MilligramPerLitre',
        valueAt: (instant) => inSteps(oxygen(instant) + 0.08 * jitter(key ^ 1, instant), 0.01),
      },
      {
        id: 'PH',
        name: 'Acidity',
        sensingDevice: 'WaterPHSensor',
        quantityKind: 'PH',
        unit: 'Dimensionless',
        valueAt: (instant) => {
          const slow = 0.15 * drift(key ^ 0x42, instant, 8 * dayMs);
          const ph = 7.6 + 0.5 * growth(instant) + slow + 0.02 * jitter(key ^ 2, instant);
          return inSteps(ph, 0.01);
        },
      },
      batterySensor(site),
    ],
    actuators: [{ id: 'AERATOR', name: 'Aerator', actuatorKind: 'Relay', valueType: 'bool' }],
  };
}

/** Milligrams of oxygen that a litre of fresh water holds at a temperature. */
function saturation(celsius: number): number {
  return 14.6 - 0.4 * celsius + 0.0078 * celsius ** 2 - 0.00007 * celsius ** 3;
}
