import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';

/** A labelled control with its hint and its error, tied together for screen readers. */
export function Field(props: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
  /** Makes the control; it must take the ids it is given. */
  readonly control: (ids: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: 'true';
  }) => ComponentChildren;
}): JSX.Element {
  const { label, hint, error, isOptional = false, control } = props;
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="quiet small"> · {t('shell.optional')}</span>}
      </label>
      {control({
        id,
        ...(hasNote && { 'aria-describedby': noteId }),
        ...(error !== undefined && { 'aria-invalid': 'true' as const }),
      })}
      {hasNote && (
        <div id={noteId} class="stack-tight">
          {error !== undefined && <p class="field-error">{error}</p>}
          {hint !== undefined && <p class="field-hint">{hint}</p>}
        </div>
      )}
    </div>
  );
}

/** What a line of text may be told about itself. */
interface InputSettings {
  readonly type?:
    | 'text'
    | 'email'
    | 'tel'
    | 'url'
    | 'password'
    | 'search'
    | 'date'
    | 'datetime-local';
  readonly name?: string;
  readonly autocomplete?: string;
  readonly autocapitalize?: 'none' | 'sentences' | 'words';
  readonly inputMode?: 'decimal' | 'numeric' | 'text';
  readonly spellcheck?: boolean;
  readonly placeholder?: string;
  readonly list?: string;
  readonly maxLength?: number;
}

/** A line of text. */
export function TextField(
  props: {
    readonly label: string;
    readonly value: string;
    readonly onValue: (value: string) => void;
    readonly hint?: string | undefined;
    readonly error?: string | undefined;
    readonly isOptional?: boolean;
  } & InputSettings,
): JSX.Element {
  const { label, value, onValue, hint, error, isOptional = false, ...input } = props;
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      isOptional={isOptional}
      control={(ids) => (
        <input
          {...withType(input)}
          {...ids}
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    />
  );
}

/** The types of Preact part inputs by their kind; here the kind is known only at run time. */
const withType = (input: InputSettings) =>
  ({ type: 'text', ...input }) as { readonly type: 'text' };

/** One of a few. */
export function SelectField<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onValue: (value: Value) => void;
  readonly hint?: string | undefined;
}): JSX.Element {
  const { label, value, options, onValue, hint } = props;
  return (
    <Field
      label={label}
      hint={hint}
      control={(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.currentTarget.value);
            if (chosen !== undefined) onValue(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}
