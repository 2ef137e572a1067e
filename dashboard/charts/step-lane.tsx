import type { JSX } from 'preact';
import { formatDate, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import type { Step } from './columns.ts';
import type { PlotRoom } from './plot.tsx';
import type { TimeRange } from './ranges.ts';
import { stretchesOf } from './stretches.ts';

/** What was no number, as stretches of time with their text, below the lines. */
export function StepLane(props: {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly range: TimeRange;
  readonly room: PlotRoom;
  readonly zone: string;
}): JSX.Element {
  const { name, steps, range, room, zone } = props;
  const stretches = stretchesOf(steps, range);
  const inset = { marginLeft: `${room.leftPx}px`, width: `${room.widthPx}px` };
  return (
    <div class="step-lane">
      <span class="small quiet">{name}</span>
      <div class="step-row" style={inset}>
        {stretches.map(({ at, value, left, width }) => {
          const text = formatValue(value, language.value, t);
          const since = formatDate(at, { language: language.value, style: 'precise', zone });
          return (
            <span
              key={at}
              class={value === true ? 'step is-on' : 'step'}
              style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
              title={`${text}, ${since}`}
            >
              {text}
            </span>
          );
        })}
      </div>
    </div>
  );
}
