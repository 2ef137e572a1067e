import type { Instant } from './clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what four digits of year can say. */
const instantMin = -62_167_219_200_000;
const instantMax = 253_402_300_799_999;
/** Enough for a fraction of thirty digits and an offset. */
const charactersMax = 64;
const minus = 45;
const colon = 58;
const space = 32;

/**
 * The instant of an ISO 8601 date and time, or undefined [contract 6]. Any offset (`Z`, `+02:00`,
 * `+0200`, `+02`), none means UTC; a fraction of any length is cut to milliseconds; seconds and
 * minutes may be missing, a date alone is its midnight; 24:00 and second 60 belong to the next
 * day and minute. A space is understood where a URL lost its `+`. Years 0000 to 9999.
 */
export function parseTimestamp(text: string): Instant | undefined {
  const { length } = text;
  if (length < 10 || length > charactersMax) return undefined;
  const midnight = dateAt(text);
  if (Number.isNaN(midnight)) return undefined;
  if (length === 10) return midnight;
  const separator = text.charCodeAt(10);
  if (separator !== 84 && separator !== 116 && separator !== space) return undefined;

  const hour = twoDigits(text, 11);
  let at = 13;
  let minute = 0;
  let second = 0;
  let millisecond = 0;
  if (text.charCodeAt(at) === colon) {
    minute = twoDigits(text, at + 1);
    at += 3;
    if (text.charCodeAt(at) === colon) {
      second = twoDigits(text, at + 1);
      at += 3;
      const mark = text.charCodeAt(at);
      if (mark === 46 || mark === 44) {
        millisecond = fractionAt(text, at + 1);
        if (millisecond < 0) return undefined;
        at = endOfDigits(text, at + 1);
      }
    }
  }
  // A part that is not two digits is NaN, which passes none of these.
  if (!(hour <= 24 && minute <= 59 && second <= 60)) return undefined;
  if (hour === 24 && minute + second + millisecond > 0) return undefined;
  const offset = at === length ? 0 : offsetAt(text, at);
  const instant =
    midnight + hour * hourMs + minute * minuteMs + second * 1_000 + millisecond - offset;
  return instant >= instantMin && instant <= instantMax ? instant : undefined;
}

/** Midnight UTC of the YYYY-MM-DD that the text starts with, or NaN. */
function dateAt(text: string): number {
  if (text.charCodeAt(4) !== minus || text.charCodeAt(7) !== minus) return Number.NaN;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) {
    return Number.NaN;
  }
  return daysSince1970(year, month, day) * dayMs;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Counts from a 1 March, so that the leap day is the last of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = month > 2 ? month - 3 : month + 9;
  const leapDays =
    Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1;
  // 719 468 days lie between 0000-03-01 and 1970-01-01.
  return marchYear * 365 + leapDays + dayOfYear - 719_468;
}

/** Milliseconds ahead of UTC as the rest of the text says, or NaN. */
function offsetAt(text: string, start: number): number {
  // "18:20:27 +02:00" and "18:20:27 Z" have a space for legibility.
  const isSpaced = text.charCodeAt(start) === space && Number.isNaN(twoDigits(text, start + 1));
  const at = isSpaced ? start + 1 : start;
  const sign = text.charCodeAt(at);
  if (sign === 90 || sign === 122) return at + 1 === text.length ? 0 : Number.NaN;
  if (sign !== 43 && sign !== minus && sign !== space) return Number.NaN;
  const hours = twoDigits(text, at + 1);
  const minutesAt = text.charCodeAt(at + 3) === colon ? at + 4 : at + 3;
  const hasMinutes = text.length > at + 3;
  const minutes = hasMinutes ? twoDigits(text, minutesAt) : 0;
  const end = hasMinutes ? minutesAt + 2 : at + 3;
  if (!(hours <= 23 && minutes <= 59) || end !== text.length) return Number.NaN;
  const offset = hours * hourMs + minutes * minuteMs;
  return sign === minus ? -offset : offset;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  // Past the end both are NaN, and no comparison holds.
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** The milliseconds of the digits of a fraction, or -1 without any. */
function fractionAt(text: string, start: number): number {
  const end = endOfDigits(text, start);
  if (end === start) return -1;
  let millisecond = 0;
  for (let at = start; at < start + 3; at += 1) {
    millisecond = millisecond * 10 + (at < end ? text.charCodeAt(at) - 48 : 0);
  }
  return millisecond;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at += 1;
  return at;
}

const twoDigitTexts = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

// A memory of the last days asked for, each in the place its number ends on: timestamps written
// together need few. It can be seen in the speed only, so it may live outside the function.
const days = Array.from({ length: 32 }, () => ({ number: 0, text: '1970-01-01T' }));

/** The end that a text says: a date alone is the end of that day in UTC [contract 15]. */
export function parseEnd(text: string): Instant | undefined {
  const at = parseTimestamp(text);
  const isDay = /^\s*\d{4}-?\d{2}-?\d{2}\s*$/.test(text);
  return at !== undefined && isDay ? at + 86_400_000 - 1 : at;
}

/** The days of 0000-01-01 and 9999-12-31. */
const firstDay = Date.parse('0000-01-01T00:00:00Z') / dayMs;
const lastDay = Date.parse('9999-12-31T00:00:00Z') / dayMs;
/** Days from 0000-03-01 to 1970-01-01, and of 400 years of the Gregorian calendar. */
const daysBefore1970 = 719_468;
const daysOf400Years = 146_097;

/**
 * YYYY-MM-DDT of a day, counted from 1970-01-01, of the years 0000 to 9999. Years begin in March
 * within, so that the leap day is the last day of its year.
 */
function dateText(day: number): string {
  const days = day + daysBefore1970;
  const era = Math.floor(days / daysOf400Years);
  const inEra = days - era * daysOf400Years;
  const leapDays =
    Math.floor(inEra / 1_460) - Math.floor(inEra / 36_524) + Math.floor(inEra / 146_096);
  const yearOfEra = Math.floor((inEra - leapDays) / 365);
  const inYear =
    inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const date = inYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = era * 400 + yearOfEra + (month < 3 ? 1 : 0);
  const century = twoDigitTexts[Math.floor(year / 100)];
  return `${century}${twoDigitTexts[year % 100]}-${twoDigitTexts[month]}-${twoDigitTexts[date]}T`;
}

/** YYYY-MM-DDThh:mm:ss.sssZ. Years outside 0000 to 9999 get the sign and six digits of ISO 8601. */
export function formatTimestamp(instant: Instant): string {
  const day = Math.floor(instant / dayMs);
  const known = days[day & 31];
  if (known === undefined || day < firstDay || day > lastDay || !Number.isInteger(instant))
    return new Date(instant).toISOString();
  if (day !== known.number) {
    known.number = day;
    known.text = dateText(day);
  }
  const rest = instant - day * dayMs;
  const hour = Math.floor(rest / hourMs);
  const minute = Math.floor(rest / minuteMs) % 60;
  const second = Math.floor(rest / 1_000) % 60;
  const millisecond = rest % 1_000;
  const padding = millisecond > 99 ? '.' : millisecond > 9 ? '.0' : '.00';
  const hourText = twoDigitTexts[hour];
  const minuteText = twoDigitTexts[minute];
  const secondText = twoDigitTexts[second];
  return `${known.text}${hourText}:${minuteText}:${secondText}${padding}${millisecond}Z`;
}

/** Why something is no timestamp. */
export const noTimestamp = (read: unknown, field: string): string =>
  `${field} must be an ISO 8601 date such as 2016-06-08T18:20:27.873Z, got ` +
  `${JSON.stringify(read)?.slice(0, 60)}`;
