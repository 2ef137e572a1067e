const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A length of time such as 90s, 10m, 1.5h or 1d, in milliseconds; undefined: it is none. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,15}(?:\.\d{1,15})?)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const factor = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
  if (number === undefined || factor === undefined) return undefined;
  return Math.round(Number(number) * factor);
}
