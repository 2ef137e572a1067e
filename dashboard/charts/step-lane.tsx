import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatDate, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import { seriesToken } from './colors.ts';
import type { Step } from './columns.ts';
import type { PlotRoom } from './plot.tsx';
import type { TimeRange } from './ranges.ts';
import { type Stretch, stretchesOf } from './stretches.ts';

/** A text in less room would be a letter and three dots. */
const textMinPx = 48;

/**
 * What was no number, as stretches of time with their text, below the lines. Above them stands one
 * in words, the last or the one that was touched, as most are too short for their text on a phone.
 */
export function StepLane(props: {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly range: TimeRange;
  readonly room: PlotRoom;
  readonly zone: string;
}): JSX.Element {
  const { name, steps, range, room, zone } = props;
  const [touchedAt, setTouchedAt] = useState<number>();
  const stretches = stretchesOf(steps, range);
  const inset = { marginLeft: `${room.leftPx}px`, width: `${room.widthPx}px` };
  const told = stretches.find(({ at }) => at === touchedAt) ?? stretches.at(-1);
  const touch = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setTouchedAt(stretchAt(stretches, (event.clientX - left) / width)?.at);
  };
  // The same text is the same colour, whatever comes between; what is off has none.
  const texts = [...new Set(stretches.map(({ value }) => value))];
  const shadeOf = (value: unknown): string | undefined =>
    value === false || texts.length < 2
      ? undefined
      : `color-mix(in srgb, var(${seriesToken(texts.indexOf(value))}) 24%, transparent)`;
  const textOf = (value: unknown): string => formatValue(value, language.value, t);
  return (
    <div class="step-lane">
      <p class="small quiet">
        {told === undefined ? name : t('common.pair', { name, value: '' })}
        {told !== undefined && (
          <>
            <span class="step-told">{textOf(told.value)}</span>
            {` · ${formatDate(told.at, { language: language.value, style: 'precise', zone })}`}
          </>
        )}
      </p>
      <div
        class="step-row"
        style={inset}
        onPointerDown={touch}
        onPointerMove={touch}
        onPointerLeave={({ pointerType }) => {
          if (pointerType === 'mouse') setTouchedAt(undefined);
        }}
      >
        {stretches.map(({ at, value, left, width }) => (
          <span
            key={at}
            class={at === told?.at ? 'step is-told' : 'step'}
            style={{
              ...{ left: `${left * 100}%`, width: `${width * 100}%` },
              background: shadeOf(value),
            }}
          >
            {width * room.widthPx >= textMinPx && textOf(value)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** The one at a share of the range, or the last one before it. */
const stretchAt = (stretches: readonly Stretch[], share: number): Stretch | undefined =>
  stretches.findLast(({ left }) => left <= share) ?? stretches[0];
