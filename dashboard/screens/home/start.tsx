import type { JSX } from 'preact';
import { LazyScreen } from '../../shell/lazy-screen.tsx';
import { username } from '../../state/session.ts';
import { Home } from './home.tsx';

const welcome = {
  path: 'welcome',
  load: () => import('../welcome/welcome.tsx').then(({ Welcome }) => Welcome),
  needsFirstLoadAlone: true,
} as const;

/** The first screen: the own devices, or the welcome of a guest. */
export function Start(): JSX.Element {
  return username.value === undefined ? <LazyScreen route={welcome} params={{}} /> : <Home />;
}
