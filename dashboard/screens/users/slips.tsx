import type { JSX } from 'preact';
import type { ImportedUser } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { QrCode } from '../../ui/qr-code.tsx';
import { fullName } from './user-words.ts';

/** Slips of paper with what each person needs to log in: the passwords are shown this once. */
export function Slips({ people }: { readonly people: readonly ImportedUser[] }): JSX.Element {
  return (
    <section class="stack-tight" aria-labelledby="slips">
      <h2 id="slips">{t('users.slips')}</h2>
      <p class="note">{t('users.slipsOnce')}</p>
      <button type="button" class="button button-main" onClick={() => window.print()}>
        {t('users.slipsPrint')}
      </button>
      <ul class="slips">
        {people.map((person) => (
          <li key={person.username} class="slip">
            <Slip person={person} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Slip({ person }: { readonly person: ImportedUser }): JSX.Element {
  const name = fullName(person);
  return (
    <>
      <dl>
        {name !== '' && (
          <>
            <dt>{t('users.slipName')}</dt>
            <dd>{name}</dd>
          </>
        )}
        <dt>{t('users.slipAddress')}</dt>
        <dd>{location.origin}</dd>
        <dt>{t('welcome.username')}</dt>
        <dd>
          <strong>{person.username}</strong>
        </dd>
        <dt>{t('welcome.password')}</dt>
        <dd>
          <strong>{person.password ?? t('users.slipGiven')}</strong>
        </dd>
      </dl>
      <QrCode text={`${location.origin}/login`} />
    </>
  );
}
