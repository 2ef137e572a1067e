import type { JSX } from 'preact';
import { type AlertForm, plainNumber } from '../../alerts/alert-form.ts';
import { sensorOf } from '../../alerts/condition-words.ts';
import type { Comparison, Condition, Placing, Sentence } from '../../alerts/read-sentence.ts';
import { opposites } from '../../alerts/sentence.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { formatSpan } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';
import { Icon } from '../../ui/icons.tsx';
import { BlankSelect, Blanks, BlankText, BlankTime } from './blanks.tsx';
import { DeviceBlank, type Parts, sensorOptions } from './device-blank.tsx';

type Word = Comparison | Placing | 'silent' | 'any';

const words: readonly Word[] = [
  ...(['below', 'above', 'atMost', 'atLeast', 'between', 'outside'] as const),
  ...(['equals', 'differs', 'silent', 'any'] as const),
];
const comparisons: readonly Comparison[] = [
  ...(['below', 'above', 'atMost', 'atLeast', 'equals', 'differs'] as const),
];

const conditionsMax = 8;

/** What is watched, as one sentence with blanks. */
export function ConditionForm(parts: Parts & { readonly sentence: Sentence }): JSX.Element {
  const { form, sentence, onForm } = parts;
  const { conditions, clear } = sentence;
  const change = (next: Sentence, others: Partial<AlertForm> = {}): void =>
    onForm({ ...form, ...others, sentence: next });
  const [first] = conditions;
  const shown: readonly (Condition | undefined)[] = first === undefined ? [undefined] : conditions;
  return (
    <>
      {shown.map((condition, index) => (
        <ConditionLine
          key={index}
          {...parts}
          condition={condition}
          isFirst={index === 0}
          onSentence={(next, others) => change(next, others)}
          onRemove={() =>
            change({ ...sentence, conditions: conditions.filter((_, at) => at !== index) })
          }
          place={index}
        />
      ))}
      {first !== undefined && first.kind !== 'silent' && (
        <span class="blank-line">
          <BlankTime
            label={t('alerts.howLong')}
            seconds={sentence.forSeconds}
            none={t('alerts.atOnce')}
            say={(ms) => t('alerts.forSpan', { time: formatSpan(ms, t) })}
            onSeconds={(forSeconds) => change({ ...sentence, forSeconds })}
          />
        </span>
      )}
      {clear !== undefined && <ClearLine {...parts} clear={clear} onSentence={change} />}
      {first !== undefined && (
        <span class="row blank-more">
          {conditions.length < conditionsMax && (
            <button
              type="button"
              class="button button-quiet"
              onClick={() => change({ ...sentence, conditions: [...conditions, again(first)] })}
            >
              <Icon name="plus" />
              {t('alerts.addCondition')}
            </button>
          )}
          {clear === undefined && first.kind === 'compare' && (
            <button
              type="button"
              class="button button-quiet"
              onClick={() => change({ ...sentence, clear: clearOf(first) })}
            >
              <Icon name="plus" />
              {t('alerts.addClear')}
            </button>
          )}
        </span>
      )}
    </>
  );
}

const again = ({ sensor }: Condition): Condition => ({
  ...{ kind: 'compare', sensor, comparison: 'below', value: '' },
});

const clearOf = (first: Extract<Condition, { kind: 'compare' }>) => ({
  ...first,
  comparison: opposites[first.comparison],
});

interface LineProps extends Parts {
  readonly sentence: Sentence;
  /** Undefined: every value counts. */
  readonly condition: Condition | undefined;
  readonly isFirst: boolean;
  readonly place: number;
  readonly onSentence: (sentence: Sentence, others?: Partial<AlertForm>) => void;
  readonly onRemove: () => void;
}

function ConditionLine(props: LineProps): JSX.Element {
  const { form, devices, sentence, condition, isFirst, place, onSentence, onRemove } = props;
  const sensor = condition?.sensor ?? form.otherSensors[0] ?? '';
  const unit = unitSymbol(sensorOf(sensor, form.devices, devices)?.unit);
  const put = (next: Condition): void => {
    const conditions = sentence.conditions.map((one, at) => (at === place ? next : one));
    onSentence({ ...sentence, conditions });
  };
  const choose = (word: Word): void => {
    if (word === 'any') onSentence({ conditions: [], forSeconds: 0 }, { otherSensors: [sensor] });
    else if (condition !== undefined) put(conditionOf(word, sensor, condition));
    else {
      const first = conditionOf(word, sensor, undefined);
      onSentence({ ...sentence, conditions: [first] }, { otherSensors: [] });
    }
  };
  const offered = sentence.conditions.length > 1 ? words.filter((word) => word !== 'any') : words;
  const value = (name: 'value' | 'low' | 'high') => (
    <BlankText
      label={t('alerts.value')}
      unit={unit}
      value={valuesOf(condition)[name] ?? ''}
      onValue={(text) => put(withValue(condition, name, plainNumber(text)))}
    />
  );
  return (
    <span class={isFirst ? 'blank-line' : 'blank-line has-remove'}>
      <Blanks
        text={t(`alerts.form${isFirst ? '' : 'And'}${shapeOf(condition)}`)}
        blanks={{
          device: <DeviceBlank {...props} />,
          sensor: (
            <BlankSelect
              label={t('alerts.sensor')}
              value={sensor}
              options={sensorOptions(form.devices, devices, sensor)}
              onValue={(id) =>
                condition === undefined
                  ? onSentence(sentence, { otherSensors: [id] })
                  : put({ ...condition, sensor: id })
              }
            />
          ),
          comparison: (
            <BlankSelect
              label={t('alerts.comparison')}
              value={wordOf(condition)}
              options={offered.map((word) => ({ value: word, label: t(`alerts.is-${word}`) }))}
              onValue={choose}
            />
          ),
          value: value('value'),
          low: value('low'),
          high: value('high'),
          time: condition?.kind === 'silent' && (
            <BlankTime
              label={t('alerts.howLong')}
              seconds={condition.seconds}
              onSeconds={(seconds) => put({ ...condition, seconds })}
            />
          ),
        }}
      />
      {!isFirst && (
        <button
          type="button"
          class="button button-quiet button-icon"
          aria-label={t('alerts.removeCondition')}
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}

function shapeOf(condition: Condition | undefined): 'Any' | 'Silent' | 'Range' | 'Compare' {
  if (condition === undefined) return 'Any';
  if (condition.kind === 'silent') return 'Silent';
  return condition.kind === 'range' ? 'Range' : 'Compare';
}

function wordOf(condition: Condition | undefined): Word {
  if (condition === undefined) return 'any';
  if (condition.kind === 'silent') return 'silent';
  return condition.kind === 'range' ? condition.placing : condition.comparison;
}

const firstSilenceSeconds = 7_200;

/** The same condition in another word; numbers typed stay where they fit. */
function conditionOf(
  word: Exclude<Word, 'any'>,
  sensor: string,
  before: Condition | undefined,
): Condition {
  const { value = '', low = value, high = '' } = valuesOf(before);
  if (word === 'silent') return { kind: 'silent', sensor, seconds: firstSilenceSeconds };
  if (word === 'between' || word === 'outside') {
    return { kind: 'range', sensor, placing: word, low, high };
  }
  return { kind: 'compare', sensor, comparison: word, value: value === '' ? low : value };
}

function valuesOf(condition: Condition | undefined): {
  readonly value?: string;
  readonly low?: string;
  readonly high?: string;
} {
  return condition === undefined || condition.kind === 'silent' ? {} : condition;
}

function withValue(
  condition: Condition | undefined,
  name: 'value' | 'low' | 'high',
  text: string,
): Condition {
  if (condition?.kind === 'compare') return { ...condition, value: text };
  if (condition?.kind === 'range') return { ...condition, [name]: text };
  throw new Error('a condition without values has no blanks for them');
}

function ClearLine(
  props: Parts & {
    readonly sentence: Sentence;
    readonly clear: NonNullable<Sentence['clear']>;
    readonly onSentence: (sentence: Sentence) => void;
  },
): JSX.Element {
  const { form, devices, sentence, clear, onSentence } = props;
  const put = (next: NonNullable<Sentence['clear']>): void =>
    onSentence({ ...sentence, clear: next });
  return (
    <span class="blank-line has-remove">
      <Blanks
        text={t('alerts.formClear')}
        blanks={{
          sensor: (
            <BlankSelect
              label={t('alerts.sensor')}
              value={clear.sensor}
              options={sensorOptions(form.devices, devices, clear.sensor)}
              onValue={(sensor) => put({ ...clear, sensor })}
            />
          ),
          comparison: (
            <BlankSelect
              label={t('alerts.comparison')}
              value={clear.comparison}
              options={comparisons.map((word) => ({ value: word, label: t(`alerts.is-${word}`) }))}
              onValue={(comparison) => put({ ...clear, comparison })}
            />
          ),
          value: (
            <BlankText
              label={t('alerts.value')}
              unit={unitSymbol(sensorOf(clear.sensor, form.devices, devices)?.unit)}
              value={clear.value}
              onValue={(text) => put({ ...clear, value: plainNumber(text) })}
            />
          ),
        }}
      />
      <button
        type="button"
        class="button button-quiet button-icon"
        aria-label={t('alerts.removeClear')}
        onClick={() => {
          const { clear: _gone, ...rest } = sentence;
          onSentence(rest);
        }}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
