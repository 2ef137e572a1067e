import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { t } from '../i18n/i18n.ts';
import { isOnline } from '../state/network.ts';
import { endedFor } from '../state/session.ts';
import { lazily } from '../ui/lazy-part.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { LazyScreen } from './lazy-screen.tsx';
import { Navigation } from './navigation.tsx';
import { loadMissing, routes, type ScreenRoute } from './routes.ts';
import { isSearching, useSearchKey } from './search-key.ts';

const SessionEnded = lazily(
  () => import('./login-needed.tsx').then((module) => module.SessionEnded),
  undefined,
  3,
);

/** The whole page. */
export function App(): JSX.Element {
  return (
    <LocationProvider>
      <Frame />
    </LocationProvider>
  );
}

function Frame(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const { path, route } = useLocation();
  useSearchKey(route);
  const isFirst = useRef(true);
  useEffect(() => {
    // A new screen is read from its start; the first one is where the browser puts it.
    if (isFirst.current) isFirst.current = false;
    else if (!isSearching()) main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div class="shell has-nav">
      <a class="skip" href="#content">
        {t('shell.skip')}
      </a>
      <Navigation />
      {!isOnline.value && (
        <p class="banner" role="status">
          {t('shell.offline')}
        </p>
      )}
      <main class="shell-main" id="content" ref={main} tabIndex={-1}>
        <Router>
          {routes.map((route) => (
            <Route key={route.path} path={route.path} route={route} component={RoutedScreen} />
          ))}
          <Route default component={MissingScreen} />
        </Router>
      </main>
      <Toasts />
      {endedFor.value !== undefined && <SessionEnded name={endedFor.value} />}
    </div>
  );
}

function RoutedScreen({
  route,
  params,
}: {
  readonly route: ScreenRoute;
  readonly params?: Readonly<Record<string, string>>;
}): JSX.Element {
  const title = t(route.title);
  useEffect(() => {
    // Of a screen that is on its way the words are as well.
    if (title !== route.title) document.title = `${title} · Kipimo`;
  }, [title]);
  return <LazyScreen key={route.path} route={route} params={params ?? {}} />;
}

const missingRoute = { path: 'missing', load: loadMissing };

function MissingScreen(): JSX.Element {
  return <LazyScreen route={missingRoute} params={{}} />;
}
