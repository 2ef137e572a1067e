import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { t } from '../../i18n/i18n.ts';
import { api, username } from '../../state/session.ts';
import { Icon } from '../../ui/icons.tsx';

/** The two screens of the profile. */
const parts = [
  { path: '/profile', label: 'profile.me' },
  { path: '/profile/developers', label: 'profile.developers' },
] as const;

/** What stood on the first screen before there were two. */
const movedAnchors: ReadonlySet<string> = new Set(['#keys', '#webhook']);

/** Whose profile it is, and the way from one of its screens to the other. */
export function ProfileHead({ part }: { readonly part: (typeof parts)[number]['path'] }) {
  const { route } = useLocation();
  useEffect(() => {
    const { hash } = location;
    if (part === '/profile' && movedAnchors.has(hash)) route(`/profile/developers${hash}`, true);
  }, []);
  return (
    <>
      <header class="screen-head">
        <div>
          <h1>{t('profile.title')}</h1>
          <p class="quiet">{t('shell.loggedInAs', { name: username.value ?? '' })}</p>
        </div>
        <button type="button" class="button" onClick={() => void api.logOut()}>
          <Icon name="logout" />
          {t('shell.logout')}
        </button>
      </header>
      <nav class="segments" aria-label={t('profile.title')}>
        {parts.map(({ path, label }) => (
          <PartLink key={path} path={path} label={t(label)} isCurrent={path === part} />
        ))}
      </nav>
    </>
  );
}

function PartLink(props: {
  readonly path: string;
  readonly label: string;
  readonly isCurrent: boolean;
}): JSX.Element {
  return (
    <a class="segment" href={props.path} aria-current={props.isCurrent ? 'page' : undefined}>
      {props.label}
    </a>
  );
}
