import type { Equipment, Site } from './model.ts';
import { inSteps, jitter } from './noise.ts';
import { hourMs } from './weather.ts';

/** Below it the pump stands still; watt per square metre. */
const startIrradiance = 220;
const panelSquareMetres = 6.4;
const efficiency = 0.16;
const pumpWattMax = 750;
const litresPerWattHour = 7.5;
const countStepMs = hourMs / 4;

/** A pump that runs while the sun is strong: light, power, water of the day, and its state. */
export function solarPump({ weather, key }: Site): Equipment {
  const { solar } = weather;

  function power(instant: number): number {
    const light = weather.irradianceAt(instant);
    if (light < startIrradiance) return 0;
    return Math.min(pumpWattMax, light * panelSquareMetres * efficiency);
  }

  function litresToday(instant: number): number {
    const midnight = solar.at(solar.dayOf(instant), 0);
    let wattHours = 0;
    for (let at = midnight; at < instant; at += countStepMs) {
      const until = Math.min(at + countStepMs, instant);
      wattHours += (power(at) * (until - at)) / hourMs;
    }
    return wattHours * litresPerWattHour;
  }

  return {
    sensors: [
      {
        id: 'SUN',
        name: 'Sunlight on the panels',
        sensingDevice: 'SolarRadiationSensor',
        quantityKind: 'SolarRadiation',
        unit: 'WattPerSquareMetre',
        valueAt: (instant) => {
          const light = weather.irradianceAt(instant);
          return inSteps(light * (1 + 0.02 * jitter(key, instant)), 1);
        },
      },
      {
        id: 'POWER',
        name: 'Power of the pump',
        sensingDevice: 'ElectricalSensor',
        quantityKind: 'ActivePower',
        unit: 'Watt',
        valueAt: (instant) => inSteps(power(instant), 1),
      },
      {
        id: 'WATER',
        name: 'Water pumped today',
        sensingDevice: 'Counter',
        quantityKind: 'Count',
        unit: 'Litre',
        valueAt: (instant) => inSteps(litresToday(instant), 1),
      },
      {
        id: 'STATE',
        name: 'State of the pump',
        sensingDevice: 'OtherSensor',
        quantityKind: 'WorkingState',
        unit: 'Dimensionless',
        valueAt: (instant) => {
          if (power(instant) > 0) return 'pumping';
          return weather.sunAt(instant) > 0 ? 'waiting for sun' : 'night';
        },
      },
    ],
    actuators: [{ id: 'PUMP', name: 'Pump', actuatorKind: 'Relay', valueType: 'bool' }],
  };
}
