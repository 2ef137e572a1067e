import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

type Method = (...words: readonly unknown[]) => Promise<unknown>;
type Api = Readonly<Record<string, Method>>;

/** What the package exports, as far as its users touch it; it comes without types. */
interface Package {
  readonly ApiClient: {
    readonly instance: {
      basePath: string;
      readonly authentications: { readonly Bearer: { apiKey?: string } };
    };
  };
  readonly [name: string]: unknown;
}

const waziup: Package = createRequire(import.meta.url)('waziup-js');

/** An object of the client, or of an answer that it took apart. */
export type Fields = Readonly<Record<string, unknown>>;

/** The published JavaScript client as an app uses it, and a note of what was called. */
export interface WaziupClient {
  /** Calls a method by name, for instance DevicesApi.getDevice. Throws for unknown names. */
  call(name: string, ...words: readonly unknown[]): Promise<unknown>;
  /** The same, for what the client makes of an answer; without undefined fields of its models. */
  get(name: string, ...words: readonly unknown[]): Promise<Fields>;
  /** An object of one of its models, for instance Sensor. */
  model(name: string, ...words: readonly unknown[]): Record<string, unknown>;
  /** Logs in as its README shows, with the token exactly as the client hands it over. */
  logIn(account: { readonly username: string; readonly password: string }): Promise<void>;
  logOut(): void;
  /** Every method of every API, as Api.method. */
  readonly methods: readonly string[];
  readonly called: ReadonlySet<string>;
}

export function createWaziupClient(url: string): WaziupClient {
  const { instance } = waziup.ApiClient;
  instance.basePath = `${url}/api/v2`;
  const called = new Set<string>();
  const bearer = instance.authentications.Bearer;

  async function call(name: string, ...words: readonly unknown[]): Promise<unknown> {
    const [api = '', method = ''] = name.split('.');
    const target = make(api);
    const found = target[method];
    assert.ok(found !== undefined, `the package has no ${name}`);
    called.add(name);
    return found.call(target, ...words);
  }

  return {
    call,
    get: async (name, ...words) => JSON.parse(JSON.stringify(await call(name, ...words))) as Fields,
    model: (name, ...words) => make(name, ...words) as unknown as Record<string, unknown>,
    async logIn({ username, password }) {
      const credentials = make('AuthBody', username, password);
      const token = await call('AuthApi.getAuthToken', credentials);
      bearer.apiKey = `Bearer ${String(token)}`;
    },
    logOut() {
      delete bearer.apiKey;
    },
    methods: Object.keys(waziup)
      .filter((name) => name.endsWith('Api'))
      .flatMap((name) =>
        Object.keys(make(name))
          .filter((method) => method !== 'apiClient')
          .map((method) => `${name}.${method}`),
      ),
    called,
  };
}

function make(name: string, ...words: readonly unknown[]): Api {
  const Class = waziup[name] as new (...words: readonly unknown[]) => Api;
  return new Class(...words);
}

/** The status and text that the client rejected with. */
export async function refusalOf(
  call: Promise<unknown> | undefined,
): Promise<{ readonly status: unknown; readonly text: string }> {
  try {
    await call;
  } catch (reason) {
    const { status, response } = reason as {
      status?: unknown;
      response?: { readonly text: string };
    };
    return { status, text: response?.text ?? String(reason) };
  }
  throw new Error('the call was not refused');
}
