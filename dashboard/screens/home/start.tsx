import type { JSX } from 'preact';
import { username } from '../../state/session.ts';
import { lazily } from '../../ui/lazy-part.tsx';
import { ScreenSkeleton } from '../../ui/skeleton.tsx';
import { Home } from './home.tsx';

// Of texts and styles it takes those of the first load alone.
const Welcome = lazily(
  () => import('../welcome/welcome.tsx').then((module) => module.Welcome),
  () => <ScreenSkeleton />,
);

/** The first screen: the own devices, or the welcome of a guest. */
export function Start(): JSX.Element {
  return username.value === undefined ? <Welcome /> : <Home />;
}
