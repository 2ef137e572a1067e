import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Term } from '../api/types.ts';
import { Field } from './field.tsx';

/** A text with terms to pick from; it may be anything else too [contract 5]. */
export function PickField(props: {
  readonly label: string;
  readonly value: string;
  readonly terms: readonly Term[];
  readonly onValue: (value: string) => void;
  readonly hint?: string;
}): JSX.Element {
  const { label, value, terms, onValue, hint } = props;
  const listId = useId();
  return (
    <Field
      label={label}
      hint={hint}
      isOptional
      control={(ids) => (
        <>
          <input
            {...ids}
            class="input"
            type="text"
            list={listId}
            autocomplete="off"
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {terms.map((term) => (
              <option key={term.id} value={term.id} label={term.label} />
            ))}
          </datalist>
        </>
      )}
    />
  );
}
