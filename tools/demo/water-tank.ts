import type { Equipment, Site } from './model.ts';
import { chance, inSteps, jitter, within } from './noise.ts';
import { hourMs } from './weather.ts';

const fullLitres = 4_900;
const litresPerCentimetre = 25;
/** The town's water comes every third night. */
const roundDays = 3;
const refillFromHour = 3.5;
const refillMs = 3 * hourMs;

type ValveState = 'open' | 'closed' | 'fault';

/** A tank that a neighbourhood drinks from: how full it is, and what its inlet valve does. */
export function waterTank(site: Site): Equipment {
  const { key } = site;
  const water = createTankWater(site);
  return {
    sensors: [
      {
        id: 'LEVEL',
        name: 'Water level',
        sensingDevice: 'WaterLevel',
        quantityKind: 'WaterLevel',
        unit: 'Centimetre',
        valueAt: (instant) => {
          const level = water.litresAt(instant) / litresPerCentimetre;
          return inSteps(Math.max(0, level + 0.6 * jitter(key, instant)), 0.5);
        },
      },
      {
        id: 'FILL',
        name: 'How full',
        sensingDevice: 'UltrasonicSensor',
        quantityKind: 'FillLevel',
        unit: 'Percent',
        valueAt: (instant) => inSteps((100 * water.litresAt(instant)) / fullLitres, 1),
      },
      {
        id: 'VALVE',
        name: 'State of the inlet valve',
        sensingDevice: 'OtherSensor',
        quantityKind: 'WorkingState',
        unit: 'Dimensionless',
        valueAt: (instant) => water.valveAt(instant),
      },
    ],
    actuators: [
      { id: 'INLET', name: 'Inlet valve', actuatorKind: 'SolenoidValve', valueType: 'bool' },
    ],
  };
}

function createTankWater({ weather, key }: Site) {
  const { solar } = weather;
  const phase = key % roundDays;

  const roundOf = (instant: number) =>
    Math.floor((solar.dayOf(instant - refillFromHour * hourMs) - phase) / roundDays);
  const startOf = (round: number) => solar.at(round * roundDays + phase, refillFromHour);
  /** Some nights the pressure fails half-way. */
  const hasFailed = (round: number) => chance(key ^ 0xfa11, round) < 0.1;
  const litresOfDay = (day: number) => 1_000 + 420 * chance(key ^ 0x05e0, day);

  function drawnBetween(from: number, to: number): number {
    let litres = 0;
    for (let day = solar.dayOf(from); day <= solar.dayOf(to); day += 1) {
      const midnight = solar.at(day, 0);
      const until = drawnPart((to - midnight) / hourMs);
      litres += litresOfDay(day) * (until - drawnPart((from - midnight) / hourMs));
    }
    return litres;
  }

  function afterRefill(round: number, instant: number): number {
    const filled = fullLitres * (hasFailed(round) ? 0.66 : 1);
    return Math.max(0, filled - drawnBetween(startOf(round) + refillMs, instant));
  }

  function litresAt(instant: number): number {
    const round = roundOf(instant);
    const part = (instant - startOf(round)) / refillMs;
    if (part >= 1) return afterRefill(round, instant);
    const before = afterRefill(round - 1, startOf(round));
    const after = afterRefill(round, startOf(round) + refillMs);
    return before + Math.max(0, after - before) * part;
  }

  function valveAt(instant: number): ValveState {
    const round = roundOf(instant);
    const part = (instant - startOf(round)) / refillMs;
    if (part >= 1) return 'closed';
    return hasFailed(round) && part > 0.6 ? 'fault' : 'open';
  }

  return { litresAt, valveAt };
}

/** The part of a day's water that is drawn until an hour: most in the morning and the evening. */
function drawnPart(hour: number): number {
  const at = within(hour, 0, 24);
  return 0.42 * rise(at, 6.8, 1.1) + 0.18 * rise(at, 13, 2.2) + 0.4 * rise(at, 18.6, 1.2);
}

/** From 0 at midnight to 1 at the next, steepest at `middle`. */
function rise(hour: number, middle: number, width: number): number {
  const at = (when: number) => 1 / (1 + Math.exp((middle - when) / width));
  return (at(hour) - at(0)) / (at(24) - at(0));
}
