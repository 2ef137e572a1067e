import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { t } from '../i18n/i18n.ts';
import { isAdmin, username } from '../state/session.ts';
import { FirstIcon } from '../ui/first-icons.tsx';
import { isWithin, type Place, placesFor } from './places.ts';

/** The bar at the bottom of phones, the column at the side of wide windows. */
export function Navigation(): JSX.Element {
  const { path } = useLocation();
  const shown = placesFor({ isUser: username.value !== undefined, isAdmin: isAdmin.value });
  return (
    <nav class="nav" aria-label={t('shell.navigation')}>
      <a class="nav-brand" href="/">
        <img src="/icon.svg" alt="" width="32" height="32" />
        Kipimo
      </a>
      <ul class="nav-list">
        {shown.map((place) => (
          <NavigationItem key={place.path} place={place} isCurrent={isWithin(place, path)} />
        ))}
        {username.value === undefined && (
          <li>
            <NavigationLink
              path="/login"
              icon="profile"
              label={t('shell.login')}
              isCurrent={path === '/login'}
            />
          </li>
        )}
      </ul>
    </nav>
  );
}

function NavigationItem({ place, isCurrent }: { place: Place; isCurrent: boolean }): JSX.Element {
  const { path, label, icon, room } = place;
  return (
    <li class={room === undefined ? undefined : `nav-${room}`}>
      <NavigationLink path={path} icon={icon} label={t(label)} isCurrent={isCurrent} />
    </li>
  );
}

function NavigationLink(props: {
  readonly path: string;
  readonly icon: Place['icon'];
  readonly label: string;
  readonly isCurrent: boolean;
}): JSX.Element {
  const { path, icon, label, isCurrent } = props;
  return (
    <a class="nav-link" href={path} aria-current={isCurrent ? 'page' : undefined}>
      <FirstIcon name={icon} />
      {label}
    </a>
  );
}
