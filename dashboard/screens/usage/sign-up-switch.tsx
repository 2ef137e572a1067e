import type { JSX } from 'preact';
import type { ServiceSettings } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Switch } from '../../ui/switch.tsx';

const path = '/admin/settings';

/** Whether strangers may make accounts: who said so, and a switch that works at once. */
export function SignUpSwitch(): JSX.Element {
  const { value, error, reload, set } = useResource('settings', (signal) =>
    api.getJson<ServiceSettings>({ path, signal }),
  );
  const action = useAction();

  async function change(before: ServiceSettings, signUp: 'open' | 'closed' | null): Promise<void> {
    set({ ...before, sign_up: signUp ?? before.sign_up_default });
    const json = { sign_up: signUp };
    if (!(await action.run(() => api.send({ method: 'PUT', path, json })))) set(before);
    else reload();
  }

  return (
    <section class="surface stack-tight" aria-labelledby="sign-up">
      <h2 id="sign-up">{t('usage.signup')}</h2>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={72} />}
      {value !== undefined && (
        <>
          <Switch
            label={t('usage.signupSwitch')}
            isOn={value.sign_up === 'open'}
            isBusy={action.isBusy}
            onChange={() => void change(value, value.sign_up === 'open' ? 'closed' : 'open')}
          />
          <p class="quiet small">{t(`usage.signup_${value.sign_up}`)}</p>
          {value.sign_up_from === 'administrator' ? (
            <div class="row row-apart">
              <span class="quiet small">
                {t('usage.signupHere', { value: value.sign_up_default })}
              </span>
              <button
                type="button"
                class="button button-quiet"
                disabled={action.isBusy}
                onClick={() => void change(value, null)}
              >
                {t('usage.signupBack')}
              </button>
            </div>
          ) : (
            <p class="quiet small">{t('usage.signupConfigured')}</p>
          )}
        </>
      )}
      <FormError text={action.error} />
    </section>
  );
}
