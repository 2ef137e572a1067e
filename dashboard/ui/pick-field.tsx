import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { foundById, idOf, labelOf } from '../api/terms.ts';
import type { Term } from '../api/types.ts';
import { Field } from './field.tsx';

/**
 * A text with terms to pick from; it may be anything else too [contract 5]. The reader sees names,
 * and the value is the id of the term; names and ids find it.
 */
export function PickField(props: {
  readonly label: string;
  readonly value: string;
  readonly terms: readonly Term[];
  readonly onValue: (value: string) => void;
  readonly hint?: string;
}): JSX.Element {
  const { label, value, terms, onValue, hint } = props;
  /** As long as somebody writes, the text stays as it is written. */
  const [typed, setTyped] = useState<string>();
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
            value={typed ?? labelOf(terms, value)}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
              onValue(idOf(terms, currentTarget.value));
            }}
            onBlur={() => setTyped(undefined)}
          />
          <datalist id={listId}>
            {terms.map((term) => (
              <option key={term.id} value={term.label} />
            ))}
            {foundById(terms, typed ?? '').map((term) => (
              <option key={`id ${term.id}`} value={term.id} label={term.label} />
            ))}
          </datalist>
        </>
      )}
    />
  );
}
