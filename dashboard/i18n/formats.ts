import { exact } from '../api/long-numbers.ts';
import type { MessageKey } from './dictionary.ts';
import type { MessageParams } from './messages.ts';

/** Looks a text up; `t`, or a stand-in in tests. */
export type Translate = (key: MessageKey, params?: MessageParams) => string;

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Clocks of devices run ahead a little; that is no news worth a word. */
const aheadMsMax = 2 * minuteMs;

/** How long ago an instant was, in one short phrase: "3 min ago". */
export function formatAge(at: number | undefined, now: number, t: Translate): string {
  if (at === undefined || Number.isNaN(at)) return t('age.never');
  const ageMs = now - at;
  if (ageMs < -aheadMsMax) return t('age.ahead');
  if (ageMs < 10 * secondMs) return t('age.now');
  if (ageMs < minuteMs) return t('age.seconds', { count: Math.floor(ageMs / secondMs) });
  if (ageMs < hourMs) return t('age.minutes', { count: Math.floor(ageMs / minuteMs) });
  if (ageMs < 2 * dayMs) return t('age.hours', { count: Math.floor(ageMs / hourMs) });
  if (ageMs < 60 * dayMs) return t('age.days', { count: Math.floor(ageMs / dayMs) });
  if (ageMs < 730 * dayMs) return t('age.months', { count: Math.floor(ageMs / (30.44 * dayMs)) });
  return t('age.years', { count: Math.floor(ageMs / (365.25 * dayMs)) });
}

/** From here on a number is written with a power of ten. */
const powerOfTenMin = 1e12;

/**
 * A measured number with as many digits as an eye can use: 1 013.2, 23.41, 0.00312. Very large and
 * very small ones are written with a power of ten. A number that is compared with a line looks like
 * that line only where it is on it.
 */
export function formatNumber(value: number, language: string, line?: number): string {
  if (!Number.isFinite(value)) return '–';
  if (line !== undefined && line !== value) return formatBeside(value, line, language);
  const size = Math.abs(value);
  if (size !== 0 && (size >= powerOfTenMin || size < 1e-6)) {
    return new Intl.NumberFormat(language, {
      notation: 'scientific',
      maximumFractionDigits: 3,
    }).format(value);
  }
  const digits = fractionDigits(size);
  return plainNumber(value, digits, language) ?? numberFormat(language, digits).format(value);
}

/** A number with all its digits, as somebody wrote it. */
export function formatExactly(text: string, language: string): string {
  if (text.length > digitsAlwaysHeld) return withMark(text, language);
  const value = Number(text);
  const size = Math.abs(value);
  if (!Number.isInteger(value) && size < 1e-6) return formatNumber(value, language);
  return numberFormat(language, digitsBesideMax).format(value);
}

/** A double holds every decimal number of so many digits. */
const digitsAlwaysHeld = 15;

/** With so many more digits two doubles that differ are written apart. */
const digitsBesideMax = 20;

function formatBeside(value: number, line: number, language: string): string {
  const [text, lineText] = [formatNumber(value, language), formatNumber(line, language)];
  if (text !== lineText) return text;
  for (let digits = fractionDigits(Math.abs(value)); digits < digitsBesideMax; digits += 1) {
    const format = numberFormat(language, digits);
    if (format.format(value) !== format.format(line)) return format.format(value);
  }
  return String(value);
}

/** What stands before the fraction, in the languages that there are. */
const decimalMarks: ReadonlyMap<string, string> = new Map([
  ['en', '.'],
  ['fr', ','],
  ['pt', ','],
  ['sw', '.'],
]);

/** Digits as they were written: whoever writes so many groups none. */
const withMark = (digits: string, language: string): string =>
  digits.replace('.', decimalMarks.get(language) ?? '.');

/**
 * What Intl.NumberFormat would say of a number without groups of digits. The first format of a page
 * takes a slow phone a tenth of a second, which its first values need not wait for.
 */
function plainNumber(value: number, digits: number, language: string): string | undefined {
  const mark = decimalMarks.get(language);
  if (mark === undefined || Object.is(value, -0)) return undefined;
  // Of the decimals that stand for the number, as there; toFixed rounds what it is exactly.
  const [whole = '', fraction = ''] = String(Math.abs(value)).split('.');
  const up = (fraction[digits] ?? '0') >= '5' ? 1 : 0;
  const scaled = Number(whole + fraction.slice(0, digits).padEnd(digits, '0')) + up;
  if (scaled >= 1_000 * 10 ** digits) return undefined;
  const text = String(scaled).padStart(digits + 1, '0');
  const shown = text.slice(text.length - digits).replace(/0+$/, '');
  const sign = value < 0 ? '-' : '';
  return `${sign}${text.slice(0, text.length - digits)}${shown === '' ? '' : mark + shown}`;
}

function fractionDigits(size: number): number {
  if (size >= 1000) return 1;
  if (size >= 0.1 || size === 0) return 2;
  return Math.min(8, 2 - Math.floor(Math.log10(size)));
}

const numberFormats = new Map<string, Intl.NumberFormat>();

/** Making a format costs more than using it a hundred times. */
function numberFormat(language: string, maximumFractionDigits: number): Intl.NumberFormat {
  const key = `${language} ${maximumFractionDigits}`;
  const known = numberFormats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(language, { maximumFractionDigits });
  // A page knows four languages and a handful of digits, so this stays small.
  numberFormats.set(key, format);
  return format;
}

/** Which parts of an instant are shown. */
export type DateStyle = 'day' | 'dayMonth' | 'time' | 'moment' | 'precise' | 'month';

const dateParts: Readonly<Record<DateStyle, Intl.DateTimeFormatOptions>> = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  dayMonth: { day: 'numeric', month: 'short' },
  time: { hour: '2-digit', minute: '2-digit' },
  moment: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  precise: {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  },
  month: { month: 'short', year: 'numeric' },
};

const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** An instant as date or time, on the clock of a zone; without one, on that of the browser. */
export function formatDate(
  at: number,
  { language, style, zone }: { language: string; style: DateStyle; zone?: string | undefined },
): string {
  if (!Number.isFinite(at)) return '–';
  const key = `${language} ${style} ${zone ?? ''}`;
  const known = dateFormats.get(key);
  const format = known ?? new Intl.DateTimeFormat(language, withZone(dateParts[style], zone));
  if (known === undefined) dateFormats.set(key, format);
  return format.format(at);
}

function withZone(
  parts: Intl.DateTimeFormatOptions,
  timeZone: string | undefined,
): Intl.DateTimeFormatOptions {
  // Farmers everywhere read 14:30; nobody has to guess whether 02:30 is at night.
  const clock = parts.hour === undefined ? parts : { ...parts, hourCycle: 'h23' as const };
  return timeZone === undefined ? clock : { ...clock, timeZone };
}

/** A stretch of time in its largest whole unit: "15 minutes". */
export function formatSpan(spanMs: number, t: Translate): string {
  const [unit, count] = inUnits(spanMs);
  return t(`chart.${unit}`, { count });
}

/** A stretch of time as a count of its largest whole unit. */
export function inUnits(spanMs: number) {
  const rounded = (unitMs: number): number => Math.max(1, Math.round(spanMs / unitMs));
  if (spanMs < minuteMs) return ['seconds', rounded(secondMs)] as const;
  if (spanMs < hourMs) return ['minutes', rounded(minuteMs)] as const;
  if (spanMs < 2 * dayMs) return ['hours', rounded(hourMs)] as const;
  if (spanMs < 60 * dayMs) return ['days', rounded(dayMs)] as const;
  return ['months', rounded(30.44 * dayMs)] as const;
}

/**
 * A value of any kind as text for a screen: numbers in the language's way, whole ones with their
 * digits, the rest plain: a text is shown as it is [contract 15].
 */
export function formatValue(value: unknown, language: string, t: Translate, line?: number): string {
  if (Number.isSafeInteger(value) && Math.abs(Number(value)) >= powerOfTenMin) {
    return numberFormat(language, 0).format(Number(value));
  }
  if (typeof value === 'number') return formatNumber(value, language, line);
  // With all the digits that a double cannot hold.
  if (value instanceof Number) return withMark(String(value), language);
  if (typeof value === 'boolean') return value ? t('common.on') : t('common.off');
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : exact.json(value);
}

const numeral = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/** The number a value counts as: itself, or text that is a number, as sketches push it. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (value instanceof Number) return Number(value);
  if (typeof value !== 'string' || !numeral.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
