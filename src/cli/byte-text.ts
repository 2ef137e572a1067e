const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes for people: 1.5 MiB. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
