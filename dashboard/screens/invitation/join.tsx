import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { screenPaths } from '../../api/paths.ts';
import type { AcceptedInvitation, OfferedInvitation } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { LoginForm } from '../../shell/login-form.tsx';
import type { ScreenProps } from '../../shell/screen.ts';
import { type Action, useAction } from '../../state/action.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { SignupForm } from '../welcome/signup-form.tsx';

/** Where an invitation leads: who invites, to what, and the way in. */
export function Join({ params }: ScreenProps): JSX.Element {
  const path = `/invitations/at/${encodeURIComponent(params['token'] ?? '')}`;
  const { value, error, reload } = useResource(`invitation ${path}`, (signal) =>
    api.getJson<OfferedInvitation>({ path, signal }),
  );
  const action = useAction();
  const { route } = useLocation();

  async function join(): Promise<void> {
    let accepted: AcceptedInvitation | undefined;
    const call = { method: 'POST', path: `${path}/accept` } as const;
    const isDone = await action.run(async () => {
      accepted = await api.getJson<AcceptedInvitation>(call);
    });
    if (isDone && accepted !== undefined) route(placeOf(accepted), true);
  }

  return (
    <div class="stack narrow">
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={320} />}
      {value !== undefined && (
        <>
          <Offer offer={value} />
          <WayIn action={action} onIn={join} />
        </>
      )}
    </div>
  );
}

/** The screen of what was joined: a single device or project, else home. */
function placeOf({ granted }: AcceptedInvitation): string {
  const [first, ...others] = granted;
  if (first === undefined || others.length > 0) return '/?whose=shared';
  if (first.kind === 'device') return screenPaths.device(first.resource);
  return first.kind === 'project' ? screenPaths.project(first.resource) : '/?whose=shared';
}

function Offer({ offer }: { readonly offer: OfferedInvitation }): JSX.Element {
  const { by, to, expires } = offer;
  const name = by.name === undefined ? by.username : `${by.name} (${by.username})`;
  const title = t('invite.invites', { name });
  useEffect(() => {
    document.title = `${title} · Kipimo`;
  }, [title]);
  const date = formatDate(Date.parse(expires), { language: language.value, style: 'day' });
  return (
    <>
      <h1>{title}</h1>
      <ul class="plain-rows">
        {to.map((thing) => (
          <li key={`${thing.kind} ${thing.resource}`} class="row">
            <strong class="grow">{thing.name}</strong>
            <span class="quiet">{t(`invite.${kindOf(thing.kind)}`)}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">{t('invite.until', { date })}</p>
    </>
  );
}

const kindOf = (kind: string): 'device' | 'project' | 'group' =>
  kind === 'project' || kind === 'group' ? kind : 'device';

/** Joins by one tap with a login; without one an account is made, or a login joins at once. */
function WayIn(props: {
  readonly action: Action;
  readonly onIn: () => Promise<void>;
}): JSX.Element {
  const { action, onIn } = props;
  const [hasAccount, setHasAccount] = useState(pageSettings().signup !== 'open');
  if (username.value !== undefined) {
    return (
      <>
        <FormError text={action.error} />
        <button
          type="button"
          class="button button-main"
          disabled={action.isBusy}
          onClick={() => void onIn()}
        >
          {t('invite.joinAs', { name: username.value })}
        </button>
      </>
    );
  }
  if (hasAccount) {
    return (
      <>
        <h2>{t('shell.login')}</h2>
        <LoginForm onDone={() => void onIn()} />
        {pageSettings().signup === 'open' && (
          <button type="button" class="button" onClick={() => setHasAccount(false)}>
            {t('shell.signup')}
          </button>
        )}
      </>
    );
  }
  return (
    <>
      <h2>{t('invite.signUp')}</h2>
      <SignupForm onDone={() => void onIn()} />
      <p>{t('welcome.haveAccount')}</p>
      <button type="button" class="button" onClick={() => setHasAccount(true)}>
        {t('shell.login')}
      </button>
    </>
  );
}
