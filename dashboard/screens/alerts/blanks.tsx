import type { ComponentChildren, JSX } from 'preact';
import { formatSpan } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';

/** A text with controls in its blanks; languages put them where they belong. */
export function Blanks({
  text,
  blanks,
}: {
  readonly text: string;
  readonly blanks: Readonly<Record<string, ComponentChildren>>;
}): JSX.Element {
  return (
    <>
      {text.split(/(\{\w+\})/).map((part) => {
        const name = /^\{(\w+)\}$/.exec(part)?.[1];
        return name === undefined ? part : Object.hasOwn(blanks, name) ? blanks[name] : part;
      })}
    </>
  );
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

/** One of a few, within a sentence. */
export function BlankSelect<Value extends string>(props: {
  readonly label: string;
  readonly value: Value | '';
  readonly options: readonly Option<Value>[];
  readonly onValue: (value: Value) => void;
}): JSX.Element {
  const { label, value, options, onValue } = props;
  return (
    <select
      class="blank"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options.find((option) => option.value === currentTarget.value);
        if (chosen !== undefined) onValue(chosen.value);
      }}
    >
      {value === '' && <option value="">…</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

const sizeMin = 4;
const sizeMax = 24;
/** A longer unit may break. */
const unitMax = 24;

/** A word or a number, within a sentence. */
export function BlankText(props: {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const { label, value, unit = '', onValue } = props;
  return (
    <span class={unit.length > unitMax ? undefined : 'blank-value'}>
      <input
        class="blank"
        type="text"
        inputMode="decimal"
        autocomplete="off"
        aria-label={unit === '' ? label : `${label} (${unit})`}
        size={Math.min(sizeMax, Math.max(sizeMin, value.length + 1))}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {unit !== '' && ` ${unit}`}
    </span>
  );
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const times = [
  ...[5 * minute, 10 * minute, 20 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour],
  ...[day, 2 * day, 7 * day, 30 * day],
];

/** A stretch of time, within a sentence; `none` is the word for no time at all. */
export function BlankTime(props: {
  readonly label: string;
  readonly seconds: number;
  readonly none?: string;
  /** Says a time of so many ms; its length alone when absent. */
  readonly say?: (ms: number) => string;
  readonly onSeconds: (seconds: number) => void;
}): JSX.Element {
  const { label, seconds, none, say = (ms) => formatSpan(ms, t), onSeconds } = props;
  const offered = [...new Set([...times, ...(seconds > 0 ? [seconds] : [])])];
  return (
    <BlankSelect
      label={label}
      value={String(seconds)}
      options={[
        ...(none === undefined ? [] : [{ value: '0', label: none }]),
        ...offered
          .sort((a, b) => a - b)
          .map((time) => ({ value: String(time), label: say(time * 1_000) })),
      ]}
      onValue={(text) => onSeconds(Number(text))}
    />
  );
}
