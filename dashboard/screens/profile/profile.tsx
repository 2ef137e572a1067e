import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { draftOf, type ProfileDraft, profileMessage } from '../../api/profile.ts';
import type { User } from '../../api/types.ts';
import { formatNumber } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import type { ScreenProps } from '../../shell/screen.ts';
import { useAction } from '../../state/action.ts';
import { api, me } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Fold } from '../../ui/fold.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { lazily } from '../../ui/lazy-part.tsx';
import { LookChoice } from '../../ui/look-choice.tsx';
import { PasswordForm } from '../../ui/password-form.tsx';
import { ProfileFields } from '../../ui/profile-fields.tsx';
import { RetentionFold } from '../../ui/retention-part.tsx';
import { ScreenSkeleton, Skeleton } from '../../ui/skeleton.tsx';
import { AccountEnd } from './account-end.tsx';
import { Addresses } from './addresses.tsx';
import { Browsers } from './browsers.tsx';
import { ProfileHead } from './profile-head.tsx';
import { useMe } from './use-me.ts';

const Developers = lazily(
  () => import('./developers.tsx').then((module) => module.Developers),
  () => <ScreenSkeleton />,
);

/** The own account, in two screens. */
export function Profile({ params }: ScreenProps): JSX.Element {
  return params['part'] === 'developers' ? <Developers /> : <Me />;
}

/** The person and how to reach them; what is rarely changed is folded. */
function Me(): JSX.Element {
  const { value, error, reload } = useMe();
  return (
    <div class="stack profile">
      <ProfileHead part="/profile" />
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined ? (
        error === undefined && <Skeleton height={420} />
      ) : (
        <>
          <section class="surface stack" aria-labelledby="contact">
            <h2 id="contact">{t('profile.contact')}</h2>
            <ContactForm user={value} onSaved={reload} />
            <Addresses key={`${value.email} ${value.phone}`} user={value} onProven={reload} />
          </section>
          <Fold title={t('profile.look')}>
            <LookChoice />
          </Fold>
          <Fold title={t('profile.password')}>
            <PasswordForm
              user={value}
              label={t('profile.changePassword')}
              done={t('profile.passwordChanged')}
            />
          </Fold>
          <Fold title={t('profile.browsers')}>
            <Browsers />
          </Fold>
          <RetentionFold place={{ scope: 'user', path: '/users/me' }} />
          <AccountEnd user={value} />
        </>
      )}
    </div>
  );
}

function ContactForm({
  user,
  onSaved,
}: {
  readonly user: User;
  readonly onSaved: () => void;
}): JSX.Element {
  const [draft, setDraft] = useState<ProfileDraft>(() => draftOf(user));
  const action = useAction();
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const json = profileMessage(draft, { removesEmpty: true });
    if (!(await action.run(() => api.send({ method: 'PUT', path: '/users/me', json })))) return;
    me.value = await api.getJson<User>({ path: '/users/me' }).catch(() => user);
    showToast(t('profile.saved'));
    onSaved();
  }
  return (
    <form class="form" onSubmit={save} noValidate>
      <ProfileFields draft={draft} onDraft={setDraft} />
      {user.sms_credit !== undefined && (
        <p class="quiet">{t('profile.smsCredit', { count: user.sms_credit })}</p>
      )}
      {user.storage !== undefined && <p class="quiet">{storageWords(user.storage)}</p>}
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('common.save')}
      </button>
    </form>
  );
}

function storageWords({ used, quota }: NonNullable<User['storage']>): string {
  const size = (bytes: number) => formatNumber(Math.round(bytes / 104_857.6) / 10, language.value);
  return quota === undefined
    ? t('profile.storage', { used: size(used) })
    : t('profile.storageOf', { used: size(used), quota: size(quota) });
}
