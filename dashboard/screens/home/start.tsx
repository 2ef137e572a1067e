import type { JSX } from 'preact';
import { username } from '../../state/session.ts';
import { Welcome } from '../welcome/welcome.tsx';
import { Home } from './home.tsx';

/** The first screen: the own devices, or the welcome of a guest. */
export function Start(): JSX.Element {
  return username.value === undefined ? <Welcome /> : <Home />;
}
