import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { Field } from '../../ui/field.tsx';

/** Many usernames, typed or pasted. */
export function PeopleField(props: {
  readonly value: string;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  return (
    <Field
      label={t('groups.people')}
      hint={t('groups.peopleHint')}
      control={(ids) => (
        <textarea
          {...ids}
          class="input"
          rows={4}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          value={props.value}
          onInput={(event) => props.onValue(event.currentTarget.value)}
        />
      )}
    />
  );
}
