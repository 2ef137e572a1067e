import { formatExactly, formatValue, inUnits, type Translate } from './formats.ts';

/** How often something is that happens once in a stretch of time: "once every 15 minutes". */
export function formatRate(spanMs: number, t: Translate): string {
  const [unit, count] = inUnits(spanMs);
  return unit === 'hours' && count === 24
    ? t('alerts.per-days', { count: 1 })
    : t(`alerts.per-${unit}`, { count });
}

/** A value as text, where nothing is rounded: a number has the digits that are stored. */
export const formatStored = (value: unknown, language: string, t: Translate): string =>
  typeof value === 'number'
    ? formatExactly(String(value), language)
    : formatValue(value, language, t);
