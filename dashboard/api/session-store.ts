/** A login that holds: the token, whose it is, and when it was given. */
export interface Session {
  readonly token: string;
  readonly username: string;
  readonly obtainedAt: number;
  /** The browser has a cookie that renews the token when it has ended. */
  readonly remembered?: true;
}

/** A logout that the service has not heard of yet. */
export type OwedLogout = Pick<Session, 'token' | 'remembered'>;

/** What a browser offers to keep texts in; absent in private windows of some. */
export type TextStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface SessionStore {
  read(): Session | undefined;
  write(session: Session): void;
  clear(): void;
  /** Logouts to be said before anything else. */
  owed(): readonly OwedLogout[];
  setOwed(logouts: readonly OwedLogout[]): void;
}

export const sessionKey = 'kipimo.session';
const owedKey = 'kipimo.owed-logouts';

/**
 * Keeps the session in localStorage, so that a reload and a second tab are logged in too, and tabs
 * share one renewed token. A token that is left alone ends within minutes [contract 4].
 */
export function createSessionStore(store: TextStore | undefined): SessionStore {
  let memory: Session | undefined;
  let owed: readonly OwedLogout[] = [];
  return {
    owed() {
      try {
        return store === undefined ? owed : storedLogouts(store);
      } catch {
        return owed;
      }
    },
    setOwed(logouts) {
      owed = logouts;
      try {
        if (logouts.length === 0) store?.removeItem(owedKey);
        else store?.setItem(owedKey, JSON.stringify(logouts));
      } catch {
        // Full or forbidden: they are owed as long as the page is there.
      }
    },
    read() {
      try {
        return store === undefined ? memory : storedSession(store);
      } catch {
        return memory;
      }
    },
    write(session) {
      memory = session;
      try {
        store?.setItem(sessionKey, JSON.stringify(session));
      } catch {
        // Full or forbidden: the session lasts as long as the page.
      }
    },
    clear() {
      memory = undefined;
      try {
        store?.removeItem(sessionKey);
      } catch {
        // Nothing was kept.
      }
    },
  };
}

/** The session that a browser keeps; throws where its text is none, or storage is forbidden. */
export function storedSession(store: TextStore): Session | undefined {
  const text = store.getItem(sessionKey);
  if (text === null) return undefined;
  const { token, username, obtainedAt, remembered } = JSON.parse(text) as Partial<Session>;
  if (typeof token !== 'string' || typeof username !== 'string') return undefined;
  return {
    ...{ token, username, obtainedAt: typeof obtainedAt === 'number' ? obtainedAt : 0 },
    ...(remembered === true && { remembered }),
  };
}

/** The logouts that a browser keeps for later; throws as `storedSession` does. */
export function storedLogouts(store: TextStore): readonly OwedLogout[] {
  const found: unknown = JSON.parse(store.getItem(owedKey) ?? '[]');
  if (!Array.isArray(found)) return [];
  return (found as readonly Partial<OwedLogout>[]).flatMap(({ token, remembered }) =>
    typeof token === 'string' ? [{ token, ...(remembered === true && { remembered }) }] : [],
  );
}
