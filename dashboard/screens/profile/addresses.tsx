import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';

interface Address {
  readonly channel: 'email' | 'sms';
  readonly address: string;
  readonly isProven: boolean;
}

/** The e-mail address and phone numbers of the profile, to prove that they reach their user. */
export function Addresses(props: {
  readonly user: User;
  readonly onProven: () => void;
}): JSX.Element | null {
  const addresses = addressesOf(props.user);
  if (addresses.length === 0) return null;
  return (
    <div class="stack">
      <p class="quiet">{t('profile.proveText')}</p>
      <ul class="lines">
        {addresses.map((address) => (
          <li key={`${address.channel} ${address.address}`}>
            <AddressLine address={address} onProven={props.onProven} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function addressesOf({ email, phone = [], proven }: User): readonly Address[] {
  const emails = email === undefined || email === '' ? [] : [email];
  return [
    ...emails.map((address) => ({
      channel: 'email' as const,
      address,
      isProven: proven?.email?.includes(address) === true,
    })),
    ...phone.map((address) => ({
      channel: 'sms' as const,
      address,
      isProven: proven?.phone?.includes(address) === true,
    })),
  ];
}

function AddressLine({
  address: { channel, address, isProven },
  onProven,
}: {
  readonly address: Address;
  readonly onProven: () => void;
}): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const [code, setCode] = useState('');
  const action = useAction();
  const post = (step: 'prove' | 'confirm', json: Readonly<Record<string, string>>) =>
    action.run(() => api.send({ method: 'POST', path: `/users/me/addresses/${step}`, json }));
  async function ask(): Promise<void> {
    if (await post('prove', { channel, address })) setAsked(true);
  }
  async function confirm(event: Event): Promise<void> {
    event.preventDefault();
    if (!(await post('confirm', { channel, address, code: code.trim() }))) return;
    showToast(t('profile.provenNow', { address }));
    onProven();
  }
  return (
    <div class="stack-tight">
      <div class="row row-apart">
        <strong class="whole">{address}</strong>
        {isProven ? (
          <span class="mark">
            <Icon name="check" />
            {t('profile.proven')}
          </span>
        ) : (
          <button type="button" class="button" disabled={action.isBusy} onClick={() => void ask()}>
            {t(isAsked ? 'profile.proveAgain' : 'profile.prove')}
          </button>
        )}
      </div>
      {isAsked && !isProven && (
        <form class="form" onSubmit={confirm} noValidate>
          <TextField
            label={t('profile.code')}
            hint={t('profile.codeHint')}
            autocomplete="one-time-code"
            value={code}
            onValue={setCode}
          />
          <button type="submit" class="button button-main" disabled={action.isBusy}>
            {t('profile.confirm')}
          </button>
        </form>
      )}
      <FormError text={action.error} />
    </div>
  );
}
