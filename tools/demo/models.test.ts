import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { integer, property } from 'fast-check';
import { createFleet, type DemoDevice } from './fleet.ts';
import { chance, drift, jitter, noiseKey } from './noise.ts';
import { places } from './places.ts';
import { createWeather, dayMs, hourMs } from './weather.ts';
import { weatherStation } from './weather-station.ts';

const year2026 = Date.UTC(2026, 0, 1);
const anInstant = integer({ min: year2026, max: year2026 + 366 * dayMs });
const fleet = createFleet({ count: 10, seed: 1, prefix: 'demo' });

/** What every numeric sensor may say, by its quantity. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  AirTemperature: [0, 48],
  AirHumidity: [0, 100],
  Rainfall: [0, 90],
  AtmosphericPressure: [790, 1_030],
  Voltage: [3.2, 4.2],
  SoilHumidity: [5, 50],
  SoilTemperature: [5, 48],
  WaterLevel: [0, 200],
  FillLevel: [0, 100],
  WaterTemperature: [10, 40],
  ChemicalAgentWaterConcentrationO2: [0.3, 14],
  PH: [6.5, 9.2],
  SolarRadiation: [0, 1_200],
  ActivePower: [0, 750],
  Count: [0, 60_000],
};

function deviceOf(slug: string): DemoDevice {
  const found = fleet.find(({ id }) => id.endsWith(slug));
  assert.ok(found !== undefined, slug);
  return found;
}

function saysOf(device: DemoDevice, sensorId: string, instant: number): number | string {
  const value = device.sensors.find(({ id }) => id === sensorId)?.valueAt(instant);
  assert.ok(value !== undefined, `${device.id} ${sensorId} is silent`);
  return value;
}

test('every sensor stays in the range of what it measures, at any time of any year', () => {
  fc.assert(
    property(anInstant, integer({ min: 0, max: 1_000 }), (instant, seed) => {
      for (const { id, sensors } of createFleet({ count: 10, seed, prefix: 'x' })) {
        for (const sensor of sensors) {
          const value = sensor.valueAt(instant);
          if (typeof value !== 'number') continue;
          const [min, max] = ranges[sensor.quantityKind] ?? [Number.NaN, Number.NaN];
          assert.ok(value >= min && value <= max, `${id} ${sensor.id} says ${value}`);
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('a fleet with the same seed says the same, with another seed something else', () => {
  const values = (seed: number) =>
    createFleet({ count: 8, seed, prefix: 'demo' }).flatMap(({ sensors }) =>
      sensors.map(({ valueAt }) => valueAt(year2026 + 13 * hourMs)),
    );
  assert.deepEqual(values(5), values(5));
  assert.notDeepEqual(values(5), values(6));
});

test('more devices leave those that were there as they were', () => {
  const described = (count: number) =>
    createFleet({ count, seed: 3, prefix: 'demo' }).map(({ id, latitude }) => ({ id, latitude }));
  assert.deepEqual(described(200).slice(0, 8), described(8));
  assert.equal(new Set(described(200).map(({ id }) => id)).size, 200);
});

test('some devices are private, and one of them is shared', () => {
  assert.deepEqual(
    fleet.filter(({ isPrivate }) => isPrivate).map(({ isShared }) => isShared),
    [true, false, false],
  );
  assert.ok(fleet.some(({ isPrivate }) => !isPrivate));
});

test('the sun stands highest at solar noon and is down at midnight, in every place', () => {
  for (const place of places) {
    const { solar, sunAt } = createWeather(place, 1);
    const day = solar.dayOf(year2026 + 40 * dayMs);
    assert.equal(sunAt(solar.at(day, 0)), 0, place.name);
    assert.ok(sunAt(solar.at(day, 12)) > sunAt(solar.at(day, 9)), place.name);
    assert.ok(sunAt(solar.at(day, 9)) > 0, place.name);
  }
});

test('on the same instant it is later in Nairobi than in Dakar', () => {
  const hours = ['dakar', 'nairobi'].map((slug) => {
    const place = places.find((one) => one.slug === slug);
    assert.ok(place !== undefined);
    return createWeather(place, 1).solar.hourOf(year2026 + 12 * hourMs);
  });
  assert.ok((hours[0] ?? 0) < 11.5 && (hours[1] ?? 0) > 14, String(hours));
});

test('rain falls in the season of rain, and its parts add up', () => {
  const dodoma = places.find(({ slug }) => slug === 'dodoma');
  assert.ok(dodoma !== undefined);
  const { rainOfDay, rainBetween, solar } = createWeather(dodoma, 1);
  const millimetres = (fromDay: number) => {
    const first = solar.dayOf(year2026) + fromDay;
    let sum = 0;
    for (let day = first; day < first + 60; day += 1) sum += rainOfDay(day);
    return sum;
  };
  assert.ok(millimetres(0) > 60, `${millimetres(0)} mm in January and February`);
  assert.ok(millimetres(180) < 20, `${millimetres(180)} mm in July and August`);
  fc.assert(
    property(anInstant, integer({ min: 0, max: 24 }), (instant, hours) => {
      const [from, middle, to] = [instant, instant + hours * hourMs, instant + dayMs];
      const whole = rainBetween(from, to);
      const parts = rainBetween(from, middle) + rainBetween(middle, to);
      assert.ok(Math.abs(whole - parts) < 1e-6, `${whole} is not ${parts}`);
    }),
  );
});

test('the values of a rain gauge add up to the rain of a day, at any time between them', () => {
  const dodoma = places.find(({ slug }) => slug === 'dodoma');
  assert.ok(dodoma !== undefined);
  const weather = createWeather(dodoma, 1);
  const { sensors } = weatherStation({ place: dodoma, weather, key: 1 });
  const rain = sensors.find(({ id }) => id === 'RAIN');
  const start = year2026;
  const days = Array.from({ length: 60 }, (_, day) => start + day * dayMs);
  for (const minutes of [1, 10, 60]) {
    const spanMs = minutes * 60_000;
    const counted = days.map((day) => {
      const instants = Array.from({ length: dayMs / spanMs }, (_, at) => day + (at + 1) * spanMs);
      return instants.reduce((sum, at) => sum + Number(rain?.valueAt(at, spanMs)), 0);
    });
    for (const [index, sum] of counted.entries()) {
      const day = days[index] ?? 0;
      const fell = weather.rainBetween(day, day + dayMs);
      assert.ok(Math.abs(sum - fell) < 0.4, `${sum} mm of ${fell} in steps of ${minutes} min`);
    }
    assert.ok(Math.max(...counted) > 5, 'it rained');
  }
});

test('soil is wetter after rain, and the lower probe falls silent now and then', () => {
  const soil = deviceOf('bobo-dioulasso-soil');
  const place = places.find(({ slug }) => slug === 'bobo-dioulasso');
  assert.ok(place !== undefined);
  const { solar, rainOfDay } = createWeather(place, 1);
  let day = solar.dayOf(Date.UTC(2026, 6, 1));
  while (rainOfDay(day) < 12) day += 1;
  const before = saysOf(soil, 'SM10', solar.at(day, 5));
  const after = saysOf(soil, 'SM10', solar.at(day + 1, 5));
  assert.ok(after > before, `${before} then ${after}`);

  const lower = soil.sensors.find(({ id }) => id === 'SM40');
  assert.ok(lower !== undefined);
  const hours = Array.from({ length: 60 * 24 }, (_, hour) => year2026 + hour * hourMs);
  const silent = hours.filter((instant) => lower.valueAt(instant) === undefined).length;
  assert.ok(silent > 24 && silent < 250, `silent for ${silent} of ${hours.length} hours`);
});

test('a tank fills only while its valve is open', () => {
  const tank = deviceOf('dakar-tank');
  const states = new Set<string | number>();
  let previous = Number(saysOf(tank, 'FILL', year2026));
  for (let instant = year2026; instant < year2026 + 40 * dayMs; instant += hourMs / 4) {
    const level = Number(saysOf(tank, 'FILL', instant));
    const meanwhile = [instant - hourMs / 4, instant].map((at) => saysOf(tank, 'VALVE', at));
    const isClosed = meanwhile.every((state) => state === 'closed');
    assert.ok(level <= previous || !isClosed, new Date(instant).toISOString());
    for (const state of meanwhile) states.add(state);
    previous = level;
  }
  assert.deepEqual([...states].sort(), ['closed', 'fault', 'open']);
});

test('a pond has more oxygen in the afternoon than before sunrise', () => {
  const pond = deviceOf('kumasi-pond');
  for (let day = 0; day < 30; day += 1) {
    const night = saysOf(pond, 'DO', year2026 + day * dayMs + 5 * hourMs);
    const afternoon = saysOf(pond, 'DO', year2026 + day * dayMs + 16 * hourMs);
    assert.ok(afternoon > night, `day ${day}: ${night} then ${afternoon}`);
  }
});

test('a pump counts water by day and begins again at midnight', () => {
  const pump = deviceOf('kisumu-pump');
  const evening = Date.UTC(2026, 2, 3, 17);
  assert.ok(Number(saysOf(pump, 'WATER', evening)) > 5_000);
  assert.equal(saysOf(pump, 'STATE', evening), 'night');
  assert.equal(saysOf(pump, 'WATER', evening + 8 * hourMs), 0);
});

test('chance is spread evenly and drift has no jumps', () => {
  const key = noiseKey(7, 'spread');
  const mean = (of: (index: number) => number) =>
    Array.from({ length: 10_000 }, (_, index) => of(index)).reduce((sum, one) => sum + one, 0) /
    10_000;
  assert.ok(Math.abs(mean((index) => chance(key, index)) - 0.5) < 0.02);
  assert.ok(Math.abs(mean((index) => jitter(key, index * 1_000))) < 0.02);
  fc.assert(
    property(anInstant, (instant) => {
      const step = drift(key, instant + 1_000, dayMs) - drift(key, instant, dayMs);
      assert.ok(Math.abs(step) < 0.001);
    }),
  );
});
