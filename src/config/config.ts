import { trustsNobody } from '../lib/connection-guard.ts';
import { defined } from '../lib/record.ts';
import { commandKeys } from './command-keys.ts';
import { type ConfigKey, configKeys, removedKeys } from './config-keys.ts';

type Keys = typeof configKeys;
type KeyName = keyof Keys;
type ValueOf<Name extends KeyName> = Keys[Name] extends ConfigKey<infer Value> ? Value : never;
type Values = { readonly [Name in KeyName]: ValueOf<Name> | undefined };

/** The error of wrong settings, one sentence for each problem; every sentence names its key. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads the settings; throws ConfigError that lists every unknown key and bad value at once. */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): {
  readonly config: Config;
  readonly secrets: Secrets;
} {
  const problems = unknownKeys(environment);
  const values = Object.fromEntries(
    Object.entries(configKeys).map(([name, declaration]) => [
      name,
      read(name, declaration, environment[name], problems),
    ]),
    // An entry per key, each parsed by the kind that the key declares.
  ) as Values;
  problems.push(...contradictions(values));
  if (problems.length > 0) throw new ConfigError(problems);
  return { config: toConfig(values), secrets: toSecrets(values) };
}

const unknownKey = 'is unknown: docs/configuration.md lists the keys';

function unknownKeys(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('KIPIMO_') && !Object.hasOwn(configKeys, name))
    .filter((name) => !Object.hasOwn(commandKeys, name))
    .map((name) => `${name} ${removedKeys.get(name) ?? unknownKey}`);
}

function read(
  name: string,
  declaration: ConfigKey,
  given: string | undefined,
  problems: string[],
): unknown {
  const text = given === undefined || given === '' ? declaration.default : given;
  if (text === undefined) return undefined;
  const value = declaration.kind.parse(text);
  if (value === undefined) {
    const shown = declaration.isSecret === true ? '' : `, got ${JSON.stringify(text)}`;
    const must = declaration.kind.problem?.(text) ?? declaration.kind.must;
    problems.push(`${name} must be ${must}${shown}`);
  }
  return value;
}

function contradictions(values: Values): string[] {
  const problems: string[] = [];
  const cert = values.KIPIMO_TLS_CERT;
  const key = values.KIPIMO_TLS_KEY;
  if ((cert === undefined) !== (key === undefined)) {
    problems.push('KIPIMO_TLS_CERT and KIPIMO_TLS_KEY must be given together');
  }
  const isShared = values.KIPIMO_PROCESSES === 'several';
  if (isShared && values.KIPIMO_DATABASE_URL === undefined) {
    problems.push('KIPIMO_PROCESSES=several needs a postgres:// address in KIPIMO_DATABASE_URL');
  }
  const rawDays = values.KIPIMO_RETENTION_RAW_DAYS;
  const hourlyDays = values.KIPIMO_RETENTION_HOURLY_DAYS;
  if (rawDays !== undefined && hourlyDays !== undefined && hourlyDays < rawDays) {
    problems.push('KIPIMO_RETENTION_HOURLY_DAYS must not be less than KIPIMO_RETENTION_RAW_DAYS');
  }
  const open: readonly KeyName[] = [
    'KIPIMO_HTTP_PORT',
    'KIPIMO_MQTT_PORT',
    ...(cert === undefined ? [] : ['KIPIMO_MQTTS_PORT' as const]),
  ];
  open.forEach((name, index) => {
    const twin = open.slice(0, index).find((other) => values[other] === values[name]);
    const number = values[name];
    if (twin !== undefined && number !== undefined && number !== 0) {
      problems.push(`${name} must differ from ${twin}, both are ${number}`);
    }
  });
  return problems;
}

/** Settings of where the service listens. */
export type ListenConfig = ReturnType<typeof listenOf>;

function listenOf(values: Values) {
  const { KIPIMO_TLS_CERT: certFile, KIPIMO_TLS_KEY: keyFile } = values;
  return Object.freeze({
    host: given(values, 'KIPIMO_HOST'),
    /** 0: any free port; so for all three. */
    httpPort: given(values, 'KIPIMO_HTTP_PORT'),
    mqttPort: given(values, 'KIPIMO_MQTT_PORT'),
    /** Used only with `tls`. */
    mqttsPort: given(values, 'KIPIMO_MQTTS_PORT'),
    /** Whether plain requests of devices skip most of the HTTP server. */
    fastPath: given(values, 'KIPIMO_SHORT_WAY'),
    /** Whether the connection of an address brings the requests of others. */
    isTrustedProxy: values.KIPIMO_TRUSTED_PROXIES ?? trustsNobody,
    ...defined({
      /** Where people reach the service; absent: as they did. */
      publicUrl: values.KIPIMO_PUBLIC_URL,
      /** PEM files. */
      tls: certFile && keyFile ? Object.freeze({ certFile, keyFile }) : undefined,
    }),
  });
}

/** All settings of one process, checked and frozen. Nothing in it is secret. */
export type Config = ReturnType<typeof toConfig>;

function toConfig(values: Values) {
  return Object.freeze({
    listen: listenOf(values),
    storage: Object.freeze({
      engine: values.KIPIMO_DATABASE_URL === undefined ? 'sqlite' : 'postgres',
      /** shared: other processes serve the same database at once. */
      serving: values.KIPIMO_PROCESSES === 'several' ? 'shared' : 'alone',
      /** The data directory; an engine without files leaves it alone. */
      directory: given(values, 'KIPIMO_DATA_DIR'),
      guestsBytesMax: given(values, 'KIPIMO_QUOTA_GUESTS_BYTES'),
      ...defined({
        /** Absent: none. */
        accountBytesMax: values.KIPIMO_QUOTA_ACCOUNT_BYTES,
        /** Absent: a part of the disk. */
        signUpBytesMax: values.KIPIMO_QUOTA_SIGNUP_BYTES,
      }),
      diskFloorBytes: given(values, 'KIPIMO_DISK_FLOOR_BYTES'),
    }),
    accounts: Object.freeze({
      adminUsername: given(values, 'KIPIMO_ADMIN_USERNAME'),
      signup: given(values, 'KIPIMO_SIGNUP'),
      tokenLifeMs: given(values, 'KIPIMO_TOKEN_TTL_S') * 1_000,
      v1TokenLifeMs: given(values, 'KIPIMO_V1_TOKEN_TTL_S') * 1_000,
      /** on: nothing is sent to an address before its user has proven it. */
      proveAddresses: given(values, 'KIPIMO_PROVE_ADDRESSES'),
      /** The credit of an account that signs up itself. */
      smsCreditNew: given(values, 'KIPIMO_SMS_CREDIT_NEW'),
    }),
    publicPush: given(values, 'KIPIMO_PUBLIC_PUSH'),
    datapoints: Object.freeze({
      valueBytesMax: given(values, 'KIPIMO_VALUE_BYTES_MAX'),
      /** Of what nothing nearer is set for. */
      retention: Object.freeze(
        defined({
          rawDays: values.KIPIMO_RETENTION_RAW_DAYS,
          hourlyDays: values.KIPIMO_RETENTION_HOURLY_DAYS,
        }),
      ),
    }),
    notifications: Object.freeze({
      evaluateOnCreate: given(values, 'KIPIMO_EVALUATE_ON_CREATE'),
      /** Texts and calls on one day, of one user and of all. */
      messagesPerDay: Object.freeze({
        each: given(values, 'KIPIMO_MESSAGES_PER_DAY'),
        all: given(values, 'KIPIMO_MESSAGES_PER_DAY_ALL'),
      }),
    }),
    dashboard: Object.freeze(
      defined({
        tileUrl: values.KIPIMO_TILE_URL,
        tileAttribution: values.KIPIMO_TILE_ATTRIBUTION,
        contact: values.KIPIMO_CONTACT,
      }),
    ),
    webhooks: Object.freeze({ privateAddresses: given(values, 'KIPIMO_WEBHOOK_PRIVATE') }),
    budgets: Object.freeze(values.KIPIMO_BUDGETS ?? {}),
    log: Object.freeze({ level: given(values, 'KIPIMO_LOG_LEVEL') }),
  });
}

/** Settings that must never reach a log, an answer or an error text. */
export type Secrets = ReturnType<typeof toSecrets>;

const toSecrets = (values: Values) =>
  Object.freeze({
    ...defined({
      /** Absent: one is generated at the first start. */
      adminPassword: values.KIPIMO_ADMIN_PASSWORD,
      /** Where PostgreSQL is, when the data is there. */
      databaseUrl: values.KIPIMO_DATABASE_URL,
    }),
    /** The providers of channels, with their credentials. */
    channels: Object.freeze(
      defined({
        sms: values.KIPIMO_SMS_URL,
        voice: values.KIPIMO_VOICE_URL,
        twitter: values.KIPIMO_TWITTER_URL,
        email: values.KIPIMO_SMTP_URL,
      }),
    ),
  });

function given<Name extends KeyName>(values: Values, name: Name): NonNullable<Values[Name]> {
  const value = values[name];
  if (value === undefined || value === null) throw new Error(`${name} has no default`);
  return value;
}
