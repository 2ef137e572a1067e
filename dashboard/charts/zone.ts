import type { TimeRange } from './ranges.ts';

/** The zone whose clock times are shown in, with its distance from UTC: "Africa/Dakar (UTC+0)". */
export function describeZone(zone: string, at: number): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts(at);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const distance = offset === 'GMT' ? 'UTC+0' : offset.replace('GMT', 'UTC');
  return zone === 'UTC' ? 'UTC' : `${zone.replaceAll('_', ' ')} (${distance})`;
}

/** The zone of the browser. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The zone wished for where this browser knows it, else its own. */
export const usableZone = (zone: string | undefined): string =>
  // By its own name: browsers call some zones otherwise, as Asia/Katmandu.
  zone !== undefined && isZone(zone) ? zone : ownZone();

/** Whether a browser knows the name of a zone; an offset such as +01:00 is none. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** A zone with the distance from UTC that it has in a range: two where clocks are changed in it. */
export function zoneIn(zone: string, { from, to }: TimeRange): string {
  const [begin, end] = [describeZone(zone, from), describeZone(zone, to)];
  if (begin === end) return begin;
  const offset = (text: string): string => /\(([^)]*)\)$/.exec(text)?.[1] ?? text;
  return begin.replace(/\(([^)]*)\)$/, `(${offset(begin)}, ${offset(end)})`);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  });
  formats.set(zone, made);
  return made;
}

/** What a clock in a zone says, as if it were UTC, in ms. */
function wallClock(at: number, zone: string): number {
  const part = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(part.get(type));
  return Date.UTC(
    number('year'),
    number('month') - 1,
    number('day'),
    number('hour'),
    number('minute'),
    number('second'),
  );
}

/** What an input of type datetime-local holds for an instant, on the clock of a zone. */
export function toZoneText(at: number, zone: string): string {
  return new Date(wallClock(at, zone)).toISOString().slice(0, 16);
}

/**
 * The instant of such a text, or undefined. An hour that clocks skip is taken as the one after it,
 * of an hour that comes twice the first is meant.
 */
export function fromZoneText(text: string, zone: string): number | undefined {
  const wall = text === '' ? Number.NaN : Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return undefined;
  const offsets = [wall - 86_400_000, wall + 86_400_000].map((at) => wallClock(at, zone) - at);
  const found = offsets.map((offset) => wall - offset).filter((at) => wallClock(at, zone) === wall);
  return found.length > 0 ? Math.min(...found) : wall - Math.min(...offsets);
}

/** When the day began on the clock of a zone. */
export function startOfDay(at: number, zone: string): number {
  const day = toZoneText(at, zone).slice(0, 10);
  return fromZoneText(`${day}T00:00`, zone) ?? at;
}
