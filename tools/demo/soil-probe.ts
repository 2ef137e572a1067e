import { batterySensor } from './battery.ts';
import type { Equipment, SensorModel, Site } from './model.ts';
import { chance, inSteps, jitter, within } from './noise.ts';
import { dayMs, hourMs, type Weather } from './weather.ts';

/** Water older than this is gone. */
const memoryDays = 30;
const irrigationMillimetres = 9;
const irrigationEveryDays = 3;

interface Layer {
  /** Volume of water when it is dry, and when it holds all it can; percent. */
  readonly dryPercent: number;
  readonly fullPercent: number;
  /** Percent that a millimetre of rain adds to a dry layer. */
  readonly gain: number;
  /** How long water takes to come down here, and to leave. */
  readonly delayMs: number;
  readonly leaveMs: number;
}

const shallow: Layer = {
  ...{ dryPercent: 9, fullPercent: 41, gain: 1.5 },
  ...{ delayMs: 1.5 * hourMs, leaveMs: 3.2 * dayMs },
};
const deep: Layer = {
  ...{ dryPercent: 14, fullPercent: 37, gain: 0.65 },
  ...{ delayMs: 20 * hourMs, leaveMs: 9 * dayMs },
};

/** Moisture at two depths under a watered crop, and the temperature of the soil. */
export function soilProbe(site: Site): Equipment {
  const { weather, key } = site;
  return {
    sensors: [
      moisture({ id: 'SM10', name: 'Soil moisture at 10 cm', layer: shallow }, site),
      withGaps(moisture({ id: 'SM40', name: 'Soil moisture at 40 cm', layer: deep }, site), key),
      {
        id: 'ST',
        name: 'Soil temperature at 10 cm',
        sensingDevice: 'SoilThermometer',
        quantityKind: 'SoilTemperature',
        unit: 'DegreeCelsius',
        valueAt: (instant) => {
          // The day reaches ten centimetres four hours late, and half of it.
          const air = weather.temperatureAt(instant - 4 * hourMs);
          const mean = weather.meanTemperatureAt(instant);
          return inSteps(mean + 1 + 0.5 * (air - mean) + 0.05 * jitter(key ^ 3, instant), 0.1);
        },
      },
      batterySensor(site),
    ],
    actuators: [],
  };
}

function moisture(
  { id, name, layer }: { readonly id: string; readonly name: string; readonly layer: Layer },
  { weather, key }: Site,
): SensorModel {
  return {
    id,
    name,
    sensingDevice: 'SoilHumiditySensor',
    quantityKind: 'SoilHumidity',
    unit: 'Percent',
    valueAt: (instant) => {
      const room = layer.fullPercent - layer.dryPercent;
      const added = layer.gain * waterLeft({ weather, key, instant, layer });
      const wet = layer.dryPercent + room * (1 - Math.exp(-added / room));
      const noise = 0.25 * jitter(key ^ Math.round(layer.gain * 100), instant);
      return inSteps(within(wet + noise, 0, 100), 0.1);
    },
  };
}

/** Millimetres that came in the past weeks and are still there. */
function waterLeft(at: {
  readonly weather: Weather;
  readonly key: number;
  readonly instant: number;
  readonly layer: Layer;
}): number {
  const { weather, key, instant, layer } = at;
  const today = weather.solar.dayOf(instant);
  let sum = 0;
  for (let day = today - memoryDays; day <= today; day += 1) {
    const rain = weather.rainOfDay(day);
    if (rain > 0) sum += rain * leftOf(instant - weather.solar.at(day, 18), layer);
    if (isWatered(weather, key, day)) {
      sum += irrigationMillimetres * leftOf(instant - weather.solar.at(day, 6), layer);
    }
  }
  return sum;
}

function leftOf(ageMs: number, { delayMs, leaveMs }: Layer): number {
  if (ageMs <= 0) return 0;
  return (1 - Math.exp(-ageMs / delayMs)) * Math.exp(-ageMs / leaveMs);
}

/** Whoever tends the field opens the water every third morning, unless it rained. */
function isWatered(weather: Weather, key: number, day: number): boolean {
  if ((day + key) % irrigationEveryDays !== 0) return false;
  return weather.rainOfDay(day - 1) + weather.rainOfDay(day - 2) < 4;
}

/** A probe with a loose cable: silent for some hours about once in nine days. */
export function withGaps(sensor: SensorModel, key: number): SensorModel {
  const everyMs = 9 * dayMs;
  return {
    ...sensor,
    valueAt: (instant) => {
      const round = Math.floor(instant / everyMs);
      const start = round * everyMs + chance(key ^ 0x6a9, 2 * round) * (everyMs - dayMs);
      const lengthMs = (5 + 17 * chance(key ^ 0x6a9, 2 * round + 1)) * hourMs;
      if (instant >= start && instant < start + lengthMs) return undefined;
      return sensor.valueAt(instant);
    },
  };
}
