import type { SensorModel, Site } from './model.ts';
import { inSteps, jitter, within } from './noise.ts';
import { dayMs } from './weather.ts';

/** Hours of the day at which the sun of that day is looked at. */
const lookHours = [8, 10, 12, 14, 16];
/** Of a lithium cell, between empty and full. */
const emptyVolt = 3.35;
const fullVolt = 4.15;

/** The cell behind a small solar panel: full in the evening, low after days of clouds. */
export function batterySensor({ weather, key }: Site): SensorModel {
  const { solar } = weather;

  function sunOfDay(day: number): number {
    const sum = lookHours.reduce((all, hour) => {
      return all + weather.irradianceAt(solar.at(day, hour));
    }, 0);
    return sum / (lookHours.length * 700);
  }

  function chargeAt(instant: number): number {
    const day = solar.dayOf(instant);
    const part = (instant - solar.at(day, 0)) / dayMs;
    const past = 0.5 * sunOfDay(day - 1) + 0.3 * sunOfDay(day - 2) + 0.2 * sunOfDay(day - 3);
    // Charged between eight and sixteen o'clock, used all day.
    const charged = 0.3 * sunOfDay(day) * within((part - 1 / 3) * 3, 0, 1);
    return within(0.25 + 0.5 * past + charged - 0.25 * part, 0.03, 1);
  }

  return {
    id: 'BAT',
    name: 'Battery',
    sensingDevice: 'BoardVoltageSensor',
    quantityKind: 'Voltage',
    unit: 'Volt',
    valueAt: (instant) => {
      const volt = emptyVolt + (fullVolt - emptyVolt) * chargeAt(instant);
      return inSteps(volt + 0.01 * jitter(key ^ 0xba, instant), 0.01);
    },
  };
}
