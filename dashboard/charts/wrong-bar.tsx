import type { JSX } from 'preact';
import { formatDate, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import type { LegendEntry } from './chart-legend.tsx';
import { readingAt } from './readout.ts';

/** Below the plots: what was tapped on, and the way to say that it is wrong. */
export function WrongBar(props: {
  readonly entry: LegendEntry | undefined;
  readonly marked: number | undefined;
  readonly zone: string;
  readonly onWrong: () => void;
}): JSX.Element {
  const { entry, marked, zone, onWrong } = props;
  return (
    <div class="row row-apart wrong-bar">
      <p class={marked === undefined ? 'small quiet' : 'number'} aria-live="polite">
        {entry === undefined || marked === undefined
          ? t('corrections.hint')
          : markText(entry, marked, zone)}
      </p>
      <button type="button" class="button" onClick={onWrong}>
        {t(marked === undefined ? 'corrections.stretchWrong' : 'corrections.thisWrong')}
      </button>
    </div>
  );
}

function markText({ columns, unit }: LegendEntry, marked: number, zone: string): string {
  const when = formatDate(marked, { language: language.value, style: 'moment', zone });
  const reading = readingAt(columns, marked);
  if (reading === undefined) return when;
  const symbol = typeof reading.value === 'boolean' ? '' : unit;
  return `${when} · ${formatValue(reading.value, language.value, t)} ${symbol}`.trim();
}
