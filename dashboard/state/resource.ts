import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isOffline } from '../api/api-error.ts';
import { type LastKnown, lastKnown } from './last-known.ts';
import { useRecovery, useRefresh } from './recovery.ts';
import { readResource, writeResource } from './resource-cache.ts';
import { endedFor, resumptions, username } from './session.ts';

/** Something a screen shows that comes from the service. */
export interface Resource<Value> {
  /** What is known; may be older than `error`. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** When the value is only remembered, from when it is. */
  readonly rememberedFrom: number | undefined;
  readonly reload: () => void;
  /** Shows a value at once, as after a change that the service accepted. */
  readonly set: (value: Value) => void;
}

interface State<Value> {
  readonly key: string | undefined;
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly rememberedFrom: number | undefined;
}

/**
 * Loads a resource when its key changes; while it loads, what was known under that key shows.
 * `isKept` remembers it on the device for the time without network. No key: nothing to load.
 */
export function useResource<Value>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Value>,
  {
    isKept = false,
    refreshMs,
  }: {
    readonly isKept?: boolean;
    /** Asked again so often while the page is looked at; mostly answered 304. */
    readonly refreshMs?: number;
  } = {},
): Resource<Value> {
  const [state, setState] = useState<State<Value>>(() => initial(key));
  const [turn, setTurn] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const user = username.value ?? '';
  const resumed = resumptions.value;

  // Before the screen is painted: an answer that is there already is a part of its first picture.
  useLayoutEffect(() => {
    if (key === undefined) return;
    const abort = new AbortController();
    setState((before) => {
      if (before.key !== key) return initial<Value>(key);
      return before.isLoading ? before : { ...before, isLoading: true };
    });
    loader
      .current(abort.signal)
      .then((value) => {
        if (abort.signal.aborted) return;
        writeResource(key, value);
        if (isKept && endedFor.peek() === undefined)
          lastKnown()?.write(`${user}.${key}`, { value, at: Date.now() });
        setState(loaded(key, value));
      })
      .catch(async (error: unknown) => {
        // The dialog that asks for the password is over the screen; it loads again after that.
        if (abort.signal.aborted || endedFor.peek() !== undefined) return;
        const isAsked = isKept && isOffline(error);
        const known = isAsked ? await lastKnown()?.read(`${user}.${key}`) : undefined;
        if (!abort.signal.aborted) setState((before) => failed(before, key, error, known));
      });
    return () => abort.abort();
  }, [key, turn, user, resumed, isKept]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  useRecovery(state.key === key ? state.error : undefined, reload);
  useRefresh(refreshMs, reload);
  const set = useCallback(
    (value: Value) => {
      if (key === undefined) return;
      writeResource(key, value);
      setState(loaded(key, value));
    },
    [key],
  );
  const shown = state.key === key ? state : initial<Value>(key);
  const { value, error, isLoading, rememberedFrom } = shown;
  return { value, error, isLoading, rememberedFrom, reload, set };
}

function initial<Value>(key: string | undefined): State<Value> {
  // Written under the same key by the same loader.
  const value = key === undefined ? undefined : (readResource(key) as Value | undefined);
  return {
    key,
    value,
    error: undefined,
    isLoading: key !== undefined,
    rememberedFrom: undefined,
  };
}

function loaded<Value>(key: string, value: Value): State<Value> {
  return { key, value, error: undefined, isLoading: false, rememberedFrom: undefined };
}

function failed<Value>(
  before: State<Value>,
  key: string,
  error: unknown,
  known: LastKnown | undefined,
): State<Value> {
  if (known === undefined) return { ...before, key, error, isLoading: false };
  return {
    key,
    value: known.value as Value,
    error,
    isLoading: false,
    rememberedFrom: known.at,
  };
}
