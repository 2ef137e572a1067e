import type { JSX } from 'preact';
import { unitSymbol } from '../api/unit-symbol.ts';
import { formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';

export { sensorName } from '../state/sensor-name.ts';

/** What a device is called on screens. */
export const deviceName = ({
  id,
  name,
}: {
  readonly id: string;
  readonly name?: string;
}): string => (name === undefined || name === '' ? id : name);

/** In widths of a digit: from here on smaller, or broken into lines. */
const wideMin = 7;
const longMin = 9;
/** No unit of the vocabulary has a longer sign; somebody's own may be one long word. */
const symbolMax = 16;
/** Units are set this much smaller. */
const unitSize = 0.62;

/** A value and its unit, the value large. */
export function Value({
  value,
  unit,
  line,
}: {
  readonly value: unknown;
  readonly unit: string | undefined;
  /** What an alert compares it with. */
  readonly line?: number | undefined;
}): JSX.Element {
  const text = formatValue(value, language.value, t, line);
  const symbol = typeof value === 'boolean' ? '' : unitSymbol(unit);
  const width = text.length + unitSize * symbol.length;
  const isLong = text.length > longMin || symbol.length > symbolMax;
  const size = isLong ? ' is-long' : width > wideMin ? ' is-wide' : '';
  return (
    <span class={`value${size}`}>
      <span class="value-number">{text}</span>
      {symbol !== '' && <span class="value-unit"> {symbol}</span>}
    </span>
  );
}
