import { batch, computed, signal } from '@preact/signals';
import { createApiClient } from '../api/client.ts';
import { takeEarly } from '../api/early-answers.ts';
import { createSessionStore, type Session, sessionKey } from '../api/session-store.ts';
import type { User } from '../api/types.ts';
import { forgetLastKnown } from './last-known.ts';
import { forgetResources } from './resource-cache.ts';
import { tokenLifeMs } from './token-life.ts';

const store = createSessionStore(browserStore());

/** Who is logged in on this page; undefined is the guest. */
export const session = signal<Session | undefined>(store.read());

/** Set when a session ended by itself, until somebody logs in or says they will not. */
export const endedFor = signal<string | undefined>(undefined);

/**
 * The username, or undefined for the guest. While a session that ended waits for its password, the
 * screen stays that user's: nothing typed on it is lost.
 */
export const username = computed(() => session.value?.username ?? endedFor.value);

/** Counts the times a session went on after it had ended; what failed meanwhile is loaded again. */
export const resumptions = signal(0);

/** The own account with its contact details; loaded after login. */
export const me = signal<User | undefined>(undefined);

/** Whether to show what only administrators may use; the service decides, this hides. */
export const isAdmin = computed(() => me.value?.admin === true);

/** Set when the own account could not be loaded; it is asked for again. */
const isMeMissed = signal(false);

/** Whether it is known what somebody may use: not in the moment between renewal and the account. */
export const isRoleKnown = computed(
  () => username.value === undefined || me.value !== undefined || isMeMissed.value,
);

/** The API for all screens. */
export const api = createApiClient({
  fetch: (input, init) => takeEarly(String(input), init) ?? fetch(input, init),
  store,
  now: () => Date.now(),
  tokenLifeMs: tokenLifeMs(),
  onSession: (next, cause) => follow(next, cause),
});

function follow(next: Session | undefined, cause: 'changed' | 'ended'): void {
  const before = username.peek();
  const isResumed = endedFor.peek() !== undefined && next?.username === endedFor.peek();
  batch(() => {
    session.value = next;
    endedFor.value = next === undefined && cause === 'ended' ? before : undefined;
    if (isResumed) resumptions.value += 1;
    if (username.value !== before) forgetAll();
  });
  // Who comes next finds nothing of who was here, also when the session ended by itself.
  if (next === undefined || (before !== undefined && next.username !== before)) forgetKept(cause);
  if (next !== undefined && me.peek() === undefined) void loadMe();
}

/** Removes what this browser keeps of a user; choices of how it looks stay. */
function forgetKept(cause: 'changed' | 'ended'): void {
  forgetLastKnown();
  try {
    // After a session that ended by itself, typed values wait for its login: see typed-values.ts.
    if (cause !== 'ended') localStorage.removeItem('kipimo.typed');
    sessionStorage.clear();
  } catch {
    // Forbidden: there is nothing.
  }
}

function forgetAll(): void {
  me.value = undefined;
  isMeMissed.value = false;
  forgetResources();
}

/** Goes on as a guest after a session has ended. */
export function stayGuest(): void {
  batch(() => {
    endedFor.value = undefined;
    forgetAll();
  });
}

/** Loads the own account; screens that show it also load it themselves. */
export async function loadMe(): Promise<void> {
  if (session.peek() === undefined) return;
  try {
    me.value = await api.getJson<User>({ path: '/users/me' });
    isMeMissed.value = false;
  } catch {
    isMeMissed.value = true;
  }
}

/** Renews the session when it is time, and asks again for an account that could not be loaded. */
async function keepUp(): Promise<void> {
  // Whoever cannot be reached now is asked again.
  await api.renewIfDue().catch(() => undefined);
  if (me.peek() === undefined) await loadMe();
}

const renewCheckMs = 30_000;

/** Keeps the session alive while the page is open, and follows other tabs. */
export function watchSession(): void {
  void keepUp();
  setInterval(() => void keepUp(), renewCheckMs);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void keepUp();
  });
  addEventListener('online', () => void keepUp());
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
