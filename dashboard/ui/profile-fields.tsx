import type { JSX } from 'preact';
import type { ProfileDraft } from '../api/profile.ts';
import { t } from '../i18n/i18n.ts';
import { TextField } from './field.tsx';
import { PhoneField } from './phone-field.tsx';

interface DraftProps {
  readonly draft: ProfileDraft;
  readonly onDraft: (draft: ProfileDraft) => void;
}

const setterOf =
  ({ draft, onDraft }: DraftProps) =>
  (field: keyof ProfileDraft) =>
  (value: string): void =>
    onDraft({ ...draft, [field]: value });

/** Where alerts and codes reach a person. */
export function ContactFields(props: DraftProps): JSX.Element {
  const { draft } = props;
  const set = setterOf(props);
  return (
    <>
      <TextField
        label={t('welcome.email')}
        type="email"
        autocomplete="email"
        value={draft.email}
        onValue={set('email')}
        isOptional
      />
      <PhoneField value={draft.phone} onValue={set('phone')} />
    </>
  );
}

/** All that an account may say about a person; none of it is required. */
export function ProfileFields(
  props: DraftProps & {
    /** Those are beside it. */
    readonly isWithoutContact?: boolean;
  },
): JSX.Element {
  const { draft, onDraft, isWithoutContact = false } = props;
  const set = setterOf(props);
  const seldom = (
    <>
      <TextField
        label={t('welcome.address')}
        autocomplete="street-address"
        value={draft.address}
        onValue={set('address')}
        isOptional
      />
      <div class="form-grid">
        <TextField
          label={t('welcome.facebook')}
          value={draft.facebook}
          onValue={set('facebook')}
          isOptional
        />
        <TextField
          label={t('welcome.twitter')}
          hint={t('welcome.twitterHint')}
          value={draft.twitter}
          onValue={set('twitter')}
          isOptional
        />
      </div>
    </>
  );
  return (
    <>
      <div class="form-grid">
        <TextField
          label={t('welcome.firstName')}
          autocomplete="given-name"
          value={draft.firstName}
          onValue={set('firstName')}
          isOptional
        />
        <TextField
          label={t('welcome.lastName')}
          autocomplete="family-name"
          value={draft.lastName}
          onValue={set('lastName')}
          isOptional
        />
      </div>
      {isWithoutContact ? (
        seldom
      ) : (
        <>
          <ContactFields draft={draft} onDraft={onDraft} />
          <details class="more-fields">
            <summary>{t('welcome.moreAboutYou')}</summary>
            <div class="stack">{seldom}</div>
          </details>
        </>
      )}
      <p class="field-hint">{t('welcome.contactHint')}</p>
    </>
  );
}
