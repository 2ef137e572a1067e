import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { Field } from '../../ui/field.tsx';

const expressionCharactersMax = 4_096;

/** The expression of an alert as the API has it, with what the service says at its spot. */
export function ExpressionField(props: {
  readonly text: string;
  /** What the service has against it. */
  readonly refusal: string | undefined;
  /** The character that it stumbled at, from 1. */
  readonly at: unknown;
  readonly onText: (text: string) => void;
}): JSX.Element {
  const { text, refusal, onText } = props;
  const spot = spotOf(props.at, text);
  return (
    <div class="stack-tight">
      <Field
        label={t('alerts.expression')}
        hint={t('alerts.expressionHint')}
        error={refusal}
        control={(ids) => (
          <textarea
            {...ids}
            class="input mono"
            rows={2}
            spellcheck={false}
            autocapitalize="none"
            maxLength={expressionCharactersMax}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
        )}
      />
      {spot !== undefined && (
        <p class="code spot" aria-hidden="true">
          {text.slice(0, spot)}
          <mark>{text.slice(spot, spot + 1) || ' '}</mark>
          {text.slice(spot + 1)}
        </p>
      )}
    </div>
  );
}

/** The place, from 0, that a refusal points at. */
function spotOf(at: unknown, text: string): number | undefined {
  const place = Number(at);
  return place >= 1 && place <= text.length + 1 ? place - 1 : undefined;
}
