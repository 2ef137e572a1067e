import type { JSX } from 'preact';
import type { BrowserLogin } from '../../api/types.ts';
import { formatAge } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** The browsers in which one stays logged in, to log out a phone that was lost. */
export function Browsers(): JSX.Element {
  const { value, error, reload } = useResource(`browsers ${username.value}`, (signal) =>
    api.getJson<readonly BrowserLogin[]>({ path: '/auth/sessions', signal }),
  );
  return (
    <div class="stack">
      <p class="quiet">{t('profile.browsersText')}</p>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={60} />}
      {value?.length === 0 && <p>{t('profile.browsersNone')}</p>}
      <ul class="lines">
        {value?.map((browser) => (
          <li key={browser.id}>
            <BrowserLine browser={browser} onChange={reload} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function BrowserLine({
  browser: { id, name, address, last_used },
  onChange,
}: {
  readonly browser: BrowserLogin;
  readonly onChange: () => void;
}): JSX.Element {
  const action = useAction();
  async function end(): Promise<void> {
    const path = `/auth/sessions/${encodeURIComponent(id)}`;
    if (!(await action.run(() => api.send({ method: 'DELETE', path })))) return;
    showToast(t('profile.browserEnded', { name }));
    onChange();
  }
  const age = formatAge(Date.parse(last_used), now.value, t);
  return (
    <div class="stack">
      <div class="row row-apart">
        <span class="grow">
          <strong>{name}</strong>
          <br />
          <span class="quiet small">{t('profile.browserUsed', { age, address })}</span>
        </span>
        <button type="button" class="button" disabled={action.isBusy} onClick={() => void end()}>
          {t('profile.browserEnd')}
        </button>
      </div>
      <FormError text={action.error} />
    </div>
  );
}
