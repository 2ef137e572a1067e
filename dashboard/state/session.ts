import { computed, signal } from '@preact/signals';
import { createApiClient } from '../api/client.ts';
import { createSessionStore, type Session, sessionKey } from '../api/session-store.ts';
import type { User } from '../api/types.ts';
import { forgetLastKnown } from './last-known.ts';
import { pageSettings } from './page-settings.ts';
import { forgetResources } from './resource-cache.ts';

const store = createSessionStore(browserStore());

/** Who is logged in on this page; undefined is the guest. */
export const session = signal<Session | undefined>(store.read());

/** The username, or undefined for the guest. */
export const username = computed(() => session.value?.username);

/** Set when a session ended by itself, until somebody logs in or says they will not. */
export const endedFor = signal<string | undefined>(undefined);

/** The own account with its contact details; loaded after login. */
export const me = signal<User | undefined>(undefined);

/** Whether to show what only administrators may use; the service decides, this hides. */
export const isAdmin = computed(() => me.value?.admin === true);

/** The API for all screens. */
export const api = createApiClient({
  fetch: (input, init) => fetch(input, init),
  store,
  now: () => Date.now(),
  tokenLifeMs: pageSettings().tokenLifeSeconds * 1_000,
  onSession: (next, cause) => follow(next, cause),
});

function follow(next: Session | undefined, cause: 'changed' | 'ended'): void {
  const before = session.peek();
  session.value = next;
  if (next === undefined) {
    endedFor.value = cause === 'ended' ? before?.username : undefined;
    me.value = undefined;
    forgetResources();
    if (cause === 'changed') forgetLastKnown();
    return;
  }
  endedFor.value = undefined;
  if (before?.username === next.username && me.peek() !== undefined) return;
  if (before?.username !== next.username) forgetResources();
  void loadMe();
}

/** Loads the own account; screens that show it also load it themselves. */
export async function loadMe(): Promise<void> {
  if (session.peek() === undefined) return;
  try {
    me.value = await api.getJson<User>({ path: '/users/me' });
  } catch {
    // Navigation hides what needs it; the next login or screen asks again.
  }
}

const renewCheckMs = 30_000;

/** Keeps the session alive while the page is open, and follows other tabs. */
export function watchSession(): void {
  void api.renewIfDue().then(loadMe);
  setInterval(() => void api.renewIfDue(), renewCheckMs);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void api.renewIfDue();
  });
  addEventListener('storage', ({ key }) => {
    if (key === sessionKey || key === null) follow(store.read(), 'changed');
  });
}

function browserStore(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
