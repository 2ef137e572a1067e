import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { type Preset, panned, presets, rangeBetween, type TimeRange, zoomed } from './ranges.ts';
import { fromZoneText, toZoneText } from './zone.ts';

/** Buttons and fields for what stretch of time is shown. */
export function RangeControls(props: {
  readonly range: TimeRange;
  readonly preset: Preset | undefined;
  /** Whose clock the fields are on. */
  readonly zone: string;
  readonly onPreset: (preset: Preset) => void;
  readonly onRange: (range: TimeRange) => void;
}): JSX.Element {
  const { range, preset, zone, onPreset, onRange } = props;
  const [isOwn, setOwn] = useState(false);
  const middle = (range.from + range.to) / 2;
  return (
    <div class="stack-tight">
      <div class="row">
        <fieldset class="segments segments-close chart-presets" aria-label={t('chart.range')}>
          {presets.map((name) => (
            <button
              key={name}
              type="button"
              class="segment"
              aria-pressed={preset === name}
              onClick={() => onPreset(name)}
            >
              {t(`chart.${name}`)}
            </button>
          ))}
        </fieldset>
        <div class="row chart-steps">
          <StepButton
            label={t('chart.earlier')}
            sign="‹"
            onStep={() => onRange(panned(range, -0.5))}
          />
          <StepButton
            label={t('chart.later')}
            sign="›"
            onStep={() => onRange(panned(range, 0.5))}
          />
          <StepButton
            label={t('chart.zoomIn')}
            sign="+"
            onStep={() => onRange(zoomed(range, 0.5, middle))}
          />
          <StepButton
            label={t('chart.zoomOut')}
            sign="−"
            onStep={() => onRange(zoomed(range, 2, middle))}
          />
          <button
            type="button"
            class="button"
            aria-pressed={preset === undefined}
            aria-expanded={isOwn}
            aria-label={t('chart.own')}
            onClick={() => setOwn(!isOwn)}
          >
            {t('chart.ownShort')}
          </button>
        </div>
      </div>
      {isOwn && <OwnRange range={range} zone={zone} onRange={onRange} />}
    </div>
  );
}

function StepButton(props: {
  readonly label: string;
  readonly sign: string;
  readonly onStep: () => void;
}): JSX.Element {
  const { label, sign, onStep } = props;
  return (
    <button
      type="button"
      class="button button-icon"
      aria-label={label}
      title={label}
      onClick={onStep}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}

/** Two fields that say what is shown, whatever showed it, and change it. */
function OwnRange(props: {
  readonly range: TimeRange;
  readonly zone: string;
  readonly onRange: (range: TimeRange) => void;
}): JSX.Element {
  const { range, zone, onRange } = props;
  const form = useRef<HTMLFormElement>(null);
  const [shownFrom, shownTo] = [toZoneText(range.from, zone), toZoneText(range.to, zone)];
  const [from, setFrom] = useState(shownFrom);
  const [to, setTo] = useState(shownTo);
  const [isBad, setBad] = useState(false);
  useEffect(() => {
    // A chart that goes along with new values must not take away what is being typed.
    if (form.current?.contains(document.activeElement) === true) return;
    setFrom(shownFrom);
    setTo(shownTo);
    setBad(false);
  }, [shownFrom, shownTo]);
  const show = (event: Event): void => {
    event.preventDefault();
    const [start, end] = [fromZoneText(from, zone), fromZoneText(to, zone)];
    const isGood = start !== undefined && end !== undefined && start < end;
    setBad(!isGood);
    if (isGood) onRange(rangeBetween(start, end));
  };
  return (
    <form class="row" ref={form} onSubmit={show}>
      <label class="field">
        <span class="field-label">{t('chart.from')}</span>
        <input
          class="input"
          type="datetime-local"
          value={from}
          onInput={({ currentTarget }) => setFrom(currentTarget.value)}
        />
      </label>
      <label class="field">
        <span class="field-label">{t('chart.to')}</span>
        <input
          class="input"
          type="datetime-local"
          value={to}
          onInput={({ currentTarget }) => setTo(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        {t('chart.show')}
      </button>
      {isBad && <p role="alert">{t('chart.badRange')}</p>}
    </form>
  );
}
