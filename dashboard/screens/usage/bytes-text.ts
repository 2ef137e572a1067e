import { formatNumber } from '../../i18n/formats.ts';
import { language } from '../../i18n/i18n.ts';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes in the unit that leaves one to four digits: 1.5 MiB. */
export function bytesText(bytes: number): string {
  let [amount, place] = [bytes, 0];
  while (amount >= 1_000 && place < units.length - 1) {
    amount /= 1_024;
    place += 1;
  }
  const shown = amount < 10 && place > 0 ? Math.round(amount * 10) / 10 : Math.round(amount);
  return `${formatNumber(shown, language.value)} ${units[place]}`;
}
