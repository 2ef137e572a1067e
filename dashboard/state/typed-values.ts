import { effect, signal } from '@preact/signals';
import { ApiError, isOffline } from '../api/api-error.ts';
import { errorSentence } from '../api/error-sentence.ts';
import { apiPaths } from '../api/paths.ts';
import { t } from '../i18n/i18n.ts';
import { isBusy, pauseMs } from './recovery.ts';
import { api, endedFor, username } from './session.ts';
import { showToast } from './toasts.ts';

/** A value that somebody read and typed. */
export interface TypedValue {
  readonly device: string;
  readonly sensor: string;
  /** As JSON, with all its digits. */
  readonly json: string;
  /** When it was read, ISO 8601. */
  readonly timestamp: string;
}

/** A value that waits for the network, and whose it is; nobody's is a guest's. */
interface Kept extends TypedValue {
  readonly user: string;
}

/** A logout removes it, in session.ts; a session that ends by itself leaves it for its user. */
const key = 'kipimo.typed';
const valuesMax = 200;
const charactersMax = 100_000;

/** What waits for the network, of whoever is logged in. */
export const waitingValues = signal<readonly TypedValue[]>(
  ownOf(readKept(), username.peek() ?? ''),
);

/** Sends a value, or keeps it where there is no network. Throws what the service answers. */
export async function sendTyped(value: TypedValue): Promise<'sent' | 'kept'> {
  try {
    await push(value);
    return 'sent';
  } catch (error) {
    if (!isOffline(error) || !change((kept) => [...kept, { ...value, user: owner }])) throw error;
    return 'kept';
  }
}

/** Whose the waiting values are; nobody's is a guest's. */
let owner = username.peek() ?? '';
/** Aborted when the session ends: a value is sent as its user's or not at all. */
let stay = new AbortController();

effect(() => {
  const user = username.value ?? '';
  const before = owner;
  owner = user;
  stay.abort();
  if (endedFor.value !== undefined) return;
  stay = new AbortController();
  if (user !== before) takeOver(before);
  queueMicrotask(() => void sendWaiting());
});

let isSending = false;
let nextTry: ReturnType<typeof setTimeout> | undefined;
/** As after so many attempts: the next one is no haste. */
const longWait = 9;

/** Another tab may have changed the session a moment ago. */
const isOwn = (): boolean =>
  endedFor.peek() === undefined && (api.session()?.username ?? '') === owner;

/** Sends what waits, one after the other, until one has to wait on. */
export async function sendWaiting(): Promise<void> {
  if (isSending) return;
  isSending = true;
  clearTimeout(nextTry);
  try {
    for (let next = waitingValues.peek()[0]; next && isOwn(); next = waitingValues.peek()[0]) {
      const { signal } = stay;
      // A value that was stored before the answer was lost is the same datapoint again.
      const refusal = await push(next).then(
        () => undefined,
        (error: unknown) => error,
      );
      // A login that has ended refuses no value for good, nor does a service that starts.
      if (signal.aborted) continue;
      if (isBusy(refusal)) {
        nextTry = setTimeout(() => void sendWaiting(), pauseMs(longWait));
        return;
      }
      const sent = JSON.stringify(next);
      if (!change((kept) => kept.filter((value) => JSON.stringify(value) !== sent))) return;
      if (refusal !== undefined) showToast(errorSentence(refusal, t));
    }
  } finally {
    isSending = false;
  }
}

async function push({ device, sensor, json, timestamp }: TypedValue): Promise<string> {
  const path = `${apiPaths.sensor(device, sensor)}/value`;
  const body = `{"value":${json},"timestamp":${JSON.stringify(timestamp)}}`;
  const { signal } = stay;
  try {
    return await api.send({ method: 'POST', path, body, type: 'application/json', signal });
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const description = 'the session has ended';
    throw new ApiError({ status: 401, code: 'unauthenticated', description, cause });
  }
}

/** Changes what waits, as other tabs have left it; false: there is no room. */
function change(next: (kept: readonly Kept[]) => readonly Kept[]): boolean {
  const kept = next(readKept());
  const text = JSON.stringify(kept);
  if (kept.length > valuesMax || text.length > charactersMax) return false;
  try {
    if (kept.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    return false;
  }
  waitingValues.value = ownOf(kept, owner);
  return true;
}

/** A guest who logs in takes along what was typed; nothing of anybody else's is left. */
function takeOver(before: string): void {
  const isTaken = ({ user }: Kept): boolean => user === owner || (user === '' && before === '');
  change((kept) => kept.filter(isTaken).map((value) => ({ ...value, user: owner })));
}

function ownOf(kept: readonly Kept[], whose: string): readonly Kept[] {
  return kept.filter(({ user }) => user === whose);
}

/** As pages of before kept them, all of one user. */
interface KeptBefore {
  readonly username: string;
  readonly values: readonly TypedValue[];
}

function readKept(): readonly Kept[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    if (Array.isArray(kept)) return kept as readonly Kept[];
    const { username: user, values } = kept as KeptBefore;
    return values.map((value) => ({ ...value, user }));
  } catch {
    return [];
  }
}

// Another tab has kept or sent some.
globalThis.addEventListener?.('storage', (event) => {
  if (event.key === null || event.key === key) waitingValues.value = ownOf(readKept(), owner);
});
