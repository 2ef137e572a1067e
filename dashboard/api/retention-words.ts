import { formatDate, type Translate } from '../i18n/formats.ts';
import type { Retention } from './types.ts';

const dayMs = 86_400_000;
/** A hundred years, as the service has it: for longer there is for ever. */
export const daysMax = 36_500;

/**
 * What is kept for how long, where that is set, and what goes next and when: sentences. Days are
 * those of UTC, in which values go.
 */
export function retentionSentences(
  state: Retention,
  { now, language, t }: { readonly now: number; readonly language: string; readonly t: Translate },
): readonly string[] {
  const { raw_days: raw, hourly_days: hourly, source, next } = state;
  const where = t(sourceWords.get(source) ?? 'retention.service');
  if (raw === null) return [t('retention.forEver'), ...(source === 'service' ? [] : [where])];
  return [
    t('retention.days', { count: raw }),
    hoursSentence(raw, hourly, t),
    where,
    ...(next.before === undefined ? [] : [nextSentence({ ...next, before: next.before }, raw)]),
  ];

  function nextSentence(goes: { datapoints: number; before: string }, days: number): string {
    const show = (at: number): string => formatDate(at, { language, style: 'day', zone: 'UTC' });
    const begin = Date.parse(goes.before);
    const at = begin + days * dayMs;
    const words = { count: goes.datapoints, before: show(begin), day: show(at) };
    if (goes.datapoints === 0) return t('retention.nextNone', words);
    return t(at <= now ? 'retention.nextNow' : 'retention.nextOn', words);
  }
}

const sourceWords = new Map([
  ['sensor', 'retention.sensor'],
  ['device', 'retention.device'],
  ['user', 'retention.user'],
] as const) as ReadonlyMap<string, 'retention.sensor' | 'retention.device' | 'retention.user'>;

function hoursSentence(raw: number, hourly: number | null, t: Translate): string {
  if (hourly === null) return t('retention.hoursForEver');
  return hourly > raw ? t('retention.hours', { count: hourly }) : t('retention.noHours');
}

/** Days as they were typed: null for nothing, undefined for what is no number of days. */
export function readDays(text: string): number | null | undefined {
  const typed = text.trim();
  if (typed === '') return null;
  if (!/^\d{1,6}$/.test(typed)) return undefined;
  const days = Number(typed);
  return days >= 1 && days <= daysMax ? days : undefined;
}
