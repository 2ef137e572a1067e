import type { JSX } from 'preact';
import { useErrorBoundary, useLayoutEffect, useState } from 'preact/hooks';
import { saysLittle } from '../i18n/few-words.ts';
import { t, wordsFor } from '../i18n/i18n.ts';
import { username } from '../state/session.ts';
import { ErrorBox } from '../ui/error-box.tsx';
import { lazily } from '../ui/lazy-part.tsx';
import { ScreenSkeleton } from '../ui/skeleton.tsx';
import { laterStyles } from './later-styles.ts';
import type { ScreenRoute } from './routes.ts';
import type { Screen } from './screen.ts';

const LoginScreen = lazily(
  () => import('./login-needed.tsx').then((module) => module.LoginScreen),
  () => <ScreenSkeleton />,
  3,
);

/** Screens that were loaded before; they show at once. */
const loaded = new Map<string, Screen>();

/** Shows a screen, loading its code first; says so with a way on when that or the screen fails. */
export function LazyScreen({
  route,
  params,
}: {
  readonly route: Omit<ScreenRoute, 'title'>;
  readonly params: Readonly<Record<string, string>>;
}): JSX.Element {
  const [, setTurn] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  const [crash, resetCrash] = useErrorBoundary();
  const Found = route.screen ?? loaded.get(route.path);

  useLayoutEffect(() => {
    if (Found !== undefined || hasFailed) return;
    let isCurrent = true;
    // Its texts and styles come beside its code.
    const words = wordsFor(saysLittle(route.path) ? 2 : 3);
    Promise.all([route.load(), words, laterStyles()])
      .then(([screen]) => {
        loaded.set(route.path, screen);
        if (isCurrent) setTurn((turn) => turn + 1);
      })
      .catch(() => {
        if (isCurrent) setFailed(true);
      });
    return () => {
      isCurrent = false;
    };
  }, [route, Found, hasFailed]);

  if (route.needsLogin === true && username.value === undefined) return <LoginScreen />;
  if (crash !== undefined) return <ErrorBox text={t('errors.crash')} onRetry={resetCrash} />;
  if (hasFailed) {
    return <ErrorBox text={t('errors.screen')} onRetry={() => setFailed(false)} />;
  }
  return Found === undefined ? <ScreenSkeleton /> : <Found params={params} />;
}
