import { chance, drift, noiseKey, within } from './noise.ts';
import type { Place } from './places.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const yearDays = 365.2425;
/** Day of the year on which the sun crosses the equator northwards. */
const equinoxDay = 80;
const tiltRadians = (23.44 * Math.PI) / 180;

/** The weather of one place: every answer depends on the instant alone. */
export interface Weather {
  /** Days and hours by the sun: noon is when it stands highest. */
  readonly solar: SolarClock;
  /** Sine of the height of the sun, 0 while it is below the horizon. */
  sunAt(instant: number): number;
  /** 0 clear to 1 overcast. */
  cloudAt(instant: number): number;
  /** Watt per square metre on flat ground. */
  irradianceAt(instant: number): number;
  temperatureAt(instant: number): number;
  /** The mean of that day and its neighbours, without day and night. */
  meanTemperatureAt(instant: number): number;
  /** Relative, percent. */
  humidityAt(instant: number): number;
  /** At the altitude of the place, hectopascal. */
  pressureAt(instant: number): number;
  /** Millimetres that fall between two instants less than two days apart. */
  rainBetween(from: number, to: number): number;
  /** Millimetres that fall on one solar day. */
  rainOfDay(day: number): number;
}

interface SolarClock {
  dayOf(instant: number): number;
  hourOf(instant: number): number;
  /** The instant of an hour on a solar day. */
  at(day: number, hour: number): number;
}

interface RainEvent {
  readonly startsAt: number;
  readonly endsAt: number;
  readonly millimetres: number;
}

/** The weather of a place in the world of this seed. */
export function createWeather(place: Place, seed: number): Weather {
  const solar = createSolarClock(place.longitude);
  const key = noiseKey(seed, place.slug);
  const front = (instant: number) => drift(key ^ 0x11, instant, 5 * dayMs);
  const rain = createRain({ place, solar, key, front });
  const { eventOf, rainBetween } = rain;

  function sunAt(instant: number): number {
    const latitude = (place.latitude * Math.PI) / 180;
    const turn = (2 * Math.PI * (dayOfYear(instant) - equinoxDay)) / yearDays;
    const declination = tiltRadians * Math.sin(turn);
    const hourAngle = ((solar.hourOf(instant) - 12) * Math.PI) / 12;
    const height =
      Math.sin(latitude) * Math.sin(declination) +
      Math.cos(latitude) * Math.cos(declination) * Math.cos(hourAngle);
    return Math.max(0, height);
  }

  function cloudAt(instant: number): number {
    const base = 0.3 + 0.22 * front(instant) + 0.2 * drift(key ^ 0x22, instant, 2 * hourMs);
    return within(base + 0.7 * stormAt(eventOf(solar.dayOf(instant)), instant), 0, 1);
  }

  function meanTemperatureAt(instant: number): number {
    const turn = (2 * Math.PI * (dayOfYear(instant) - place.warmestDay)) / yearDays;
    return place.meanC + place.seasonC * Math.cos(turn) + 0.9 * front(instant);
  }

  function temperatureAt(instant: number): number {
    // Warmest at half past two, coldest before sunrise; clouds flatten the day.
    const wave = Math.cos(((solar.hourOf(instant) - 14.5) * Math.PI) / 12);
    const shape = wave + 0.18 * Math.cos(((solar.hourOf(instant) - 14.5) * Math.PI) / 6);
    const amplitude = place.dailyC * (1 - 0.35 * (0.3 + 0.22 * front(instant)));
    const cooling = 3.6 * stormAt(eventOf(solar.dayOf(instant)), instant);
    return meanTemperatureAt(instant) + amplitude * shape - cooling;
  }

  function humidityAt(instant: number): number {
    const [dry, wet] = place.dewGapC;
    const wetness = within(rain.seasonAt(instant) * 2, 0, 1);
    const gap = dry + (wet - dry) * wetness + 0.8 * drift(key ^ 0x33, instant, dayMs);
    const damp = 1.5 * stormAt(eventOf(solar.dayOf(instant)), instant);
    const dewPoint = meanTemperatureAt(instant) - gap + damp;
    const relation = vapourPressure(dewPoint) / vapourPressure(temperatureAt(instant));
    return within(100 * relation, 6, 100);
  }

  function pressureAt(instant: number): number {
    // In the tropics pressure has two tides a day, high about ten and twenty-two o'clock.
    const tide = 1.4 * Math.cos(((solar.hourOf(instant) - 10) * Math.PI) / 6);
    const seaLevel = 1_012.5 - 1.6 * front(instant) + tide;
    return seaLevel * (1 - 2.25577e-5 * place.altitudeM) ** 5.25588;
  }

  return {
    solar,
    sunAt,
    cloudAt,
    irradianceAt: (instant) => 1_050 * sunAt(instant) ** 1.15 * (1 - 0.72 * cloudAt(instant) ** 2),
    temperatureAt,
    meanTemperatureAt,
    humidityAt,
    pressureAt,
    rainBetween,
    rainOfDay: (day) => eventOf(day)?.millimetres ?? 0,
  };
}

function createSolarClock(longitude: number): SolarClock {
  const aheadMs = (longitude / 15) * hourMs;
  const dayOf = (instant: number) => Math.floor((instant + aheadMs) / dayMs);
  return {
    dayOf,
    hourOf: (instant) => (instant + aheadMs - dayOf(instant) * dayMs) / hourMs,
    at: (day, hour) => day * dayMs + hour * hourMs - aheadMs,
  };
}

/** At most one shower a day, likelier in the season and while a front passes. */
function createRain(parts: {
  readonly place: Place;
  readonly solar: SolarClock;
  readonly key: number;
  readonly front: (instant: number) => number;
}) {
  const { place, solar, front } = parts;
  const key = parts.key ^ 0x44;

  function seasonAt(instant: number): number {
    const day = dayOfYear(instant);
    return place.rains.reduce((sum, season) => {
      const away = Math.abs(day - season.day);
      const days = Math.min(away, yearDays - away);
      return sum + season.chance * Math.exp(-((days / season.spanDays) ** 2));
    }, 0.015);
  }

  function eventOf(day: number): RainEvent | undefined {
    const noon = solar.at(day, 12);
    const likelihood = seasonAt(noon) * (1 + 0.7 * front(noon));
    if (chance(key, 4 * day) >= likelihood) return undefined;
    const hours = 0.6 + 2.6 * chance(key, 4 * day + 1);
    // Showers come in the afternoon and evening; all of one falls on its day.
    const start = within(17.5 + 7 * (chance(key, 4 * day + 2) - 0.6), 9, 23.9 - hours);
    const startsAt = solar.at(day, start);
    const millimetres = Math.min(90, 0.4 - 9 * Math.log(1 - chance(key, 4 * day + 3)));
    return { startsAt, endsAt: startsAt + hours * hourMs, millimetres };
  }

  function rainBetween(from: number, to: number): number {
    let sum = 0;
    for (let day = solar.dayOf(from); day <= solar.dayOf(to); day += 1) {
      const event = eventOf(day);
      if (event !== undefined) sum += event.millimetres * (fallen(event, to) - fallen(event, from));
    }
    return sum;
  }

  return { seasonAt, eventOf, rainBetween };
}

/** The part of a shower that is down at an instant: it swells and fades. */
function fallen({ startsAt, endsAt }: RainEvent, instant: number): number {
  const part = within((instant - startsAt) / (endsAt - startsAt), 0, 1);
  return part - Math.sin(2 * Math.PI * part) / (2 * Math.PI);
}

/** 1 in the middle of a shower, fading over the three hours around it. */
function stormAt(event: RainEvent | undefined, instant: number): number {
  if (event === undefined) return 0;
  const away = Math.max(event.startsAt - instant, instant - event.endsAt, 0) / hourMs;
  return Math.exp(-((away / 1.4) ** 2));
}

function dayOfYear(instant: number): number {
  return (instant / dayMs) % yearDays;
}

/** Over water, hectopascal (Magnus). */
function vapourPressure(celsius: number): number {
  return 6.112 * Math.exp((17.62 * celsius) / (243.12 + celsius));
}
