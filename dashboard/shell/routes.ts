import type { ComponentType } from 'preact';
import type { MessageKey } from '../i18n/dictionary.ts';

/** What a screen is handed: the blanks of its path, decoded. */
export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>;
}

export type Screen = ComponentType<ScreenProps>;

export interface ScreenRoute {
  readonly path: string;
  /** Said in the title of the window; screens that know better set their own. */
  readonly title: MessageKey;
  /** Loaded when first shown. */
  readonly load: () => Promise<Screen>;
  /** Who is not logged in is asked to. */
  readonly needsLogin?: true;
}

/** Every screen and its address. A new screen is a file below screens/ and one entry here. */
export const routes: readonly ScreenRoute[] = [
  {
    path: '/',
    title: 'shell.home',
    load: () => import('../screens/home/start.tsx').then(({ Start }) => Start),
  },
  {
    path: '/login',
    title: 'shell.login',
    load: () => import('../screens/welcome/login.tsx').then(({ Login }) => Login),
  },
  {
    path: '/signup',
    title: 'shell.signup',
    load: () => import('../screens/welcome/signup.tsx').then(({ Signup }) => Signup),
  },
  {
    path: '/more',
    title: 'shell.more',
    load: () => import('../screens/more/more.tsx').then(({ More }) => More),
  },
];

/** Shown where no route fits. */
export const loadMissing = (): Promise<Screen> =>
  import('../screens/missing/missing.tsx').then(({ Missing }) => Missing);
