import type { ChannelSettings } from '../channels/provider-settings.ts';
import type { BudgetTotals } from '../domain/budgets/budgets.ts';
import type { Retention } from '../domain/datapoints/retention/retention.ts';
import type { Username } from '../domain/ids.ts';
import { commandKeys } from './command-keys.ts';
import { type ConfigKey, configKeys, type LogLevel, removedKeys } from './config-keys.ts';

/** Settings of where the service listens. */
export interface ListenConfig {
  readonly host: string;
  /** 0: any free port; so for all three. */
  readonly httpPort: number;
  readonly mqttPort: number;
  /** Whether the connection of an address brings the requests of others. */
  readonly isTrustedProxy: (address: string) => boolean;
  /** Where people reach the service; absent: as they did. */
  readonly publicUrl?: string;
  /** Whether plain requests of devices skip most of the HTTP server. */
  readonly fastPath: 'on' | 'off';
  /** Used only with `tls`. */
  readonly mqttsPort: number;
  /** PEM files. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/** All settings of one process, checked and frozen. Nothing in it is secret. */
export interface Config {
  readonly listen: ListenConfig;
  readonly storage: {
    readonly engine: 'sqlite' | 'postgres';
    /** shared: other processes serve the same database at once. */
    readonly serving: 'alone' | 'shared';
    /** The data directory; an engine without files leaves it alone. */
    readonly directory: string;
    readonly guestsBytesMax: number;
    /** Absent: none. */
    readonly accountBytesMax?: number;
    /** Absent: a part of the disk. */
    readonly signUpBytesMax?: number | 'none';
    readonly diskFloorBytes: number;
  };
  readonly accounts: {
    readonly adminUsername: Username;
    readonly signup: 'open' | 'closed';
    readonly tokenLifeMs: number;
    readonly v1TokenLifeMs: number;
    /** on: nothing is sent to an address before its user has proven it. */
    readonly proveAddresses: 'on' | 'off';
    /** The credit of an account that signs up itself. */
    readonly smsCreditNew: number | 'unlimited';
  };
  readonly publicPush: 'open' | 'granted';
  readonly datapoints: {
    readonly valueBytesMax: number;
    /** Of what nothing nearer is set for. */
    readonly retention: Retention;
  };
  readonly notifications: {
    readonly evaluateOnCreate: boolean;
    /** Texts and calls on one day, of one user and of all. */
    readonly messagesPerDay: { readonly each: number; readonly all: number };
  };
  readonly dashboard: {
    readonly tileUrl?: string;
    readonly tileAttribution?: string;
    readonly contact?: string;
  };
  readonly webhooks: { readonly privateAddresses: 'refused' | 'allowed' };
  readonly budgets: BudgetTotals;
  readonly log: { readonly level: LogLevel };
}

/** Settings that must never reach a log, an answer or an error text. */
export interface Secrets {
  /** Absent: one is generated at the first start. */
  readonly adminPassword?: string;
  /** Where PostgreSQL is, when the data is there. */
  readonly databaseUrl?: string;
  /** The providers of channels, with their credentials. */
  readonly channels: ChannelSettings;
}

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

/** Trusts no address; the same function for all, so that configurations compare equal. */
export const trustsNobody = (): boolean => false;

function toConfig(values: Values): Config {
  const certFile = values.KIPIMO_TLS_CERT;
  const keyFile = values.KIPIMO_TLS_KEY;
  const tls =
    certFile === undefined || keyFile === undefined
      ? {}
      : { tls: Object.freeze({ certFile, keyFile }) };
  return Object.freeze({
    listen: Object.freeze({
      host: given(values, 'KIPIMO_HOST'),
      httpPort: given(values, 'KIPIMO_HTTP_PORT'),
      mqttPort: given(values, 'KIPIMO_MQTT_PORT'),
      mqttsPort: given(values, 'KIPIMO_MQTTS_PORT'),
      fastPath: given(values, 'KIPIMO_SHORT_WAY'),
      isTrustedProxy: values.KIPIMO_TRUSTED_PROXIES ?? trustsNobody,
      ...(values.KIPIMO_PUBLIC_URL !== undefined && { publicUrl: values.KIPIMO_PUBLIC_URL }),
      ...tls,
    }),
    storage: Object.freeze({
      engine: values.KIPIMO_DATABASE_URL === undefined ? 'sqlite' : 'postgres',
      serving: values.KIPIMO_PROCESSES === 'several' ? 'shared' : 'alone',
      directory: given(values, 'KIPIMO_DATA_DIR'),
      guestsBytesMax: given(values, 'KIPIMO_QUOTA_GUESTS_BYTES'),
      ...(values.KIPIMO_QUOTA_ACCOUNT_BYTES !== undefined && {
        accountBytesMax: values.KIPIMO_QUOTA_ACCOUNT_BYTES,
      }),
      ...(values.KIPIMO_QUOTA_SIGNUP_BYTES !== undefined && {
        signUpBytesMax: values.KIPIMO_QUOTA_SIGNUP_BYTES,
      }),
      diskFloorBytes: given(values, 'KIPIMO_DISK_FLOOR_BYTES'),
    }),
    accounts: Object.freeze({
      adminUsername: given(values, 'KIPIMO_ADMIN_USERNAME'),
      signup: given(values, 'KIPIMO_SIGNUP'),
      tokenLifeMs: given(values, 'KIPIMO_TOKEN_TTL_S') * 1_000,
      v1TokenLifeMs: given(values, 'KIPIMO_V1_TOKEN_TTL_S') * 1_000,
      proveAddresses: given(values, 'KIPIMO_PROVE_ADDRESSES'),
      smsCreditNew: given(values, 'KIPIMO_SMS_CREDIT_NEW'),
    }),
    publicPush: given(values, 'KIPIMO_PUBLIC_PUSH'),
    datapoints: Object.freeze({
      valueBytesMax: given(values, 'KIPIMO_VALUE_BYTES_MAX'),
      retention: retentionOf(values),
    }),
    notifications: Object.freeze({
      evaluateOnCreate: given(values, 'KIPIMO_EVALUATE_ON_CREATE'),
      messagesPerDay: Object.freeze({
        each: given(values, 'KIPIMO_MESSAGES_PER_DAY'),
        all: given(values, 'KIPIMO_MESSAGES_PER_DAY_ALL'),
      }),
    }),
    dashboard: Object.freeze({
      ...(values.KIPIMO_TILE_URL !== undefined && { tileUrl: values.KIPIMO_TILE_URL }),
      ...(values.KIPIMO_TILE_ATTRIBUTION !== undefined && {
        tileAttribution: values.KIPIMO_TILE_ATTRIBUTION,
      }),
      ...(values.KIPIMO_CONTACT !== undefined && { contact: values.KIPIMO_CONTACT }),
    }),
    webhooks: Object.freeze({ privateAddresses: given(values, 'KIPIMO_WEBHOOK_PRIVATE') }),
    budgets: Object.freeze(values.KIPIMO_BUDGETS ?? {}),
    log: Object.freeze({ level: given(values, 'KIPIMO_LOG_LEVEL') }),
  });
}

function retentionOf(values: Values): Retention {
  const rawDays = values.KIPIMO_RETENTION_RAW_DAYS;
  const hourlyDays = values.KIPIMO_RETENTION_HOURLY_DAYS;
  return Object.freeze({
    ...(rawDays !== undefined && { rawDays }),
    ...(hourlyDays !== undefined && { hourlyDays }),
  });
}

function toSecrets(values: Values): Secrets {
  const adminPassword = values.KIPIMO_ADMIN_PASSWORD;
  const databaseUrl = values.KIPIMO_DATABASE_URL;
  const { KIPIMO_SMS_URL: sms, KIPIMO_VOICE_URL: voice } = values;
  const { KIPIMO_TWITTER_URL: twitter, KIPIMO_SMTP_URL: email } = values;
  return Object.freeze({
    ...(adminPassword !== undefined && { adminPassword }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    channels: Object.freeze({
      ...(sms !== undefined && { sms }),
      ...(voice !== undefined && { voice }),
      ...(twitter !== undefined && { twitter }),
      ...(email !== undefined && { email }),
    }),
  });
}

function given<Name extends KeyName>(values: Values, name: Name): NonNullable<Values[Name]> {
  const value = values[name];
  if (value === undefined || value === null) throw new Error(`${name} has no default`);
  return value;
}
