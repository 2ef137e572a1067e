import { signal } from '@preact/signals';
import { ApiError, isOffline } from '../api/api-error.ts';
import { errorSentence } from '../api/error-sentence.ts';
import { apiPaths } from '../api/paths.ts';
import { t } from '../i18n/i18n.ts';
import { mayPass, pauseMs } from './recovery.ts';
import { api, username } from './session.ts';
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

/** What is known of a user goes with the session; this does, too. */
const key = 'kipimo.known.typed';
const valuesMax = 200;
const charactersMax = 100_000;

/** What waits for the network, of whoever is logged in. */
export const waitingValues = signal<readonly TypedValue[]>(readKept());

/** Sends a value, or keeps it where there is no network. Throws what the service answers. */
export async function sendTyped(value: TypedValue): Promise<'sent' | 'kept'> {
  try {
    await push(value);
    return 'sent';
  } catch (error) {
    if (!isOffline(error) || !keep([...waitingValues.peek(), value])) throw error;
    return 'kept';
  }
}

let isSending = false;
/** As after so many attempts: the next one is no haste. */
const longWait = 9;

const hasEnded = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Sends what waits, one after the other, until one has to wait on. */
export async function sendWaiting(): Promise<void> {
  if (isSending) return;
  isSending = true;
  try {
    for (let next = waitingValues.peek()[0]; next; next = waitingValues.peek()[0]) {
      // A value that was stored before the answer was lost is the same datapoint again.
      const refusal = await push(next).then(
        () => undefined,
        (error: unknown) => error,
      );
      // A service that is busy or starts, or a login that has ended, refuses no value for good.
      if (mayPass(refusal)) setTimeout(() => void sendWaiting(), pauseMs(longWait));
      if (mayPass(refusal) || hasEnded(refusal)) return;
      keep(waitingValues.peek().slice(1));
      if (refusal !== undefined) showToast(errorSentence(refusal, t));
    }
  } finally {
    isSending = false;
  }
}

function push({ device, sensor, json, timestamp }: TypedValue): Promise<string> {
  const path = `${apiPaths.sensor(device, sensor)}/value`;
  const body = `{"value":${json},"timestamp":${JSON.stringify(timestamp)}}`;
  return api.send({ method: 'POST', path, body, type: 'application/json' });
}

/** false: there is no room. */
function keep(values: readonly TypedValue[]): boolean {
  const text = JSON.stringify({ username: username.peek() ?? '', values });
  if (values.length > valuesMax || text.length > charactersMax) return false;
  try {
    if (values.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    return false;
  }
  waitingValues.value = values;
  return true;
}

function readKept(): readonly TypedValue[] {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as {
      readonly username?: string;
      readonly values?: readonly TypedValue[];
    };
    return kept.username === (username.peek() ?? '') ? (kept.values ?? []) : [];
  } catch {
    return [];
  }
}
