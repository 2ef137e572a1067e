import type { OwedLogout, SessionStore } from './session-store.ts';

/** Whether the service was busy or starting: it has done nothing, and may do it later. */
const mayPass = ({ status }: Response): boolean => status === 429 || status >= 500;

interface LogoutRequest {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
}

const logout: LogoutRequest = { method: 'DELETE', path: '/auth/token' };

/**
 * Says each logout that the service has not heard of, once for all who call it meanwhile. It throws
 * when the service cannot be reached: then nothing else may be asked of it either.
 */
export function createOwedLogouts(options: {
  readonly store: SessionStore;
  /** Sends with this token, or with the cookie alone. */
  readonly send: (wanted: LogoutRequest, token: string | undefined) => Promise<Response>;
  readonly renewRequest: LogoutRequest;
  readonly errorOf: (response: Response) => Promise<Error>;
}): () => Promise<void> {
  const { store, send, renewRequest, errorOf } = options;
  let paying: Promise<void> | undefined;

  async function say({ token, remembered }: OwedLogout): Promise<void> {
    const response = await send(logout, token);
    if (mayPass(response)) throw await errorOf(response);
    if (response.status !== 401 || remembered !== true) return;
    // The token had ended; the login that the cookie stands for must not stay behind.
    const fresh = await send(renewRequest, undefined);
    if (mayPass(fresh)) throw await errorOf(fresh);
    if (fresh.ok) await say({ token: await fresh.text() });
  }

  async function sayAll(): Promise<void> {
    for (const owed of store.owed()) {
      await say(owed);
      store.setOwed(store.owed().filter(({ token }) => token !== owed.token));
    }
  }

  return async () => {
    if (store.owed().length === 0) return;
    paying ??= sayAll().finally(() => {
      paying = undefined;
    });
    await paying;
  };
}
