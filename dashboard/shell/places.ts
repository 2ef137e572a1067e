import type { MessageKey } from '../i18n/dictionary.ts';
import type { firstDrawings } from '../ui/first-icons.tsx';

/** A place in the navigation. */
export interface Place {
  readonly path: string;
  readonly label: MessageKey;
  readonly icon: keyof typeof firstDrawings;
  /** Whom it is for; everybody when absent. */
  readonly audience?: 'users' | 'admins';
  /** wide: only at the side of wide windows; phones reach it under More. */
  readonly room?: 'wide';
  /** Addresses below these belong to the place too. */
  readonly also?: readonly string[];
}

/** The navigation, in its order. */
export const places: readonly Place[] = [
  { path: '/', label: 'shell.home', icon: 'home', also: ['/devices', '/new-device'] },
  { path: '/map', label: 'shell.map', icon: 'map' },
  { path: '/alerts', label: 'shell.alerts', icon: 'alerts', audience: 'users' },
  {
    path: '/gateways',
    label: 'shell.gateways',
    icon: 'gateways',
    audience: 'users',
    room: 'wide',
  },
  {
    path: '/projects',
    label: 'shell.projects',
    icon: 'projects',
    audience: 'users',
    room: 'wide',
  },
  {
    path: '/sharing',
    label: 'shell.sharing',
    icon: 'sharing',
    audience: 'users',
    room: 'wide',
    also: ['/groups'],
  },
  {
    path: '/messages',
    label: 'messages.title',
    icon: 'messages',
    audience: 'users',
    room: 'wide',
  },
  { path: '/users', label: 'shell.users', icon: 'users', audience: 'admins', room: 'wide' },
  { path: '/usage', label: 'shell.usage', icon: 'usage', audience: 'admins', room: 'wide' },
  { path: '/profile', label: 'shell.profile', icon: 'profile', audience: 'users', room: 'wide' },
  {
    path: '/more',
    label: 'shell.more',
    icon: 'more',
    also: [
      '/gateways',
      '/projects',
      '/sharing',
      '/groups',
      '/messages',
      '/users',
      '/usage',
      '/profile',
    ],
  },
];

/** The places somebody may use. */
export function placesFor(who: {
  readonly isUser: boolean;
  readonly isAdmin: boolean;
}): readonly Place[] {
  return places.filter(({ audience }) =>
    audience === undefined ? true : audience === 'admins' ? who.isAdmin : who.isUser,
  );
}

/** Whether an address belongs to a place. */
export function isWithin(place: Place, path: string): boolean {
  if (path === place.path) return true;
  const roots = [...(place.path === '/' ? [] : [place.path]), ...(place.also ?? [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}
