import { channelUrls } from '../channels/provider-settings.ts';
import { retentionLimits } from '../domain/datapoints/retention/retention.ts';
import { limits } from '../domain/limits.ts';
import {
  addressList,
  budgetTotals,
  bytes,
  bytesOrNone,
  choice,
  count,
  credit,
  databaseUrl,
  directory,
  flag,
  host,
  type Kind,
  origin,
  password,
  plainLine,
  port,
  providerUrl,
  readableFile,
  seconds,
  tileUrl,
  username,
} from './config-kinds.ts';

const logLevels = ['error', 'warn', 'info', 'debug', 'silent'] as const;

/** A key of the environment; the documentation is made from it. */
export interface ConfigKey<Value = unknown> {
  readonly kind: Kind<Value>;
  /** As one would write it; absent: no value. */
  readonly default?: string;
  readonly meaning: string;
  readonly isSecret?: true;
}

function key<Value>(declaration: ConfigKey<Value>): ConfigKey<Value> {
  return declaration;
}

/** Keys of earlier versions, with the words that complete the refusal "KEY …". */
export const removedKeys: ReadonlyMap<string, string> = new Map([
  [
    'KIPIMO_NATS_URL',
    'is a setting no more: several processes need PostgreSQL alone, so take it out, and stop the ' +
      'NATS server where nothing else uses it',
  ],
]);

/** Every key of the environment that the service knows [contract 1]. */
export const configKeys = {
  KIPIMO_HOST: key({ kind: host, default: '0.0.0.0', meaning: 'Address to listen on.' }),
  KIPIMO_HTTP_PORT: key({
    kind: port,
    default: '8080',
    meaning: 'HTTP: the API, the dashboard at `/`, the reference at `/docs`.',
  }),
  KIPIMO_MQTT_PORT: key({ kind: port, default: '1883', meaning: 'MQTT over TCP.' }),
  KIPIMO_MQTTS_PORT: key({
    kind: port,
    default: '8883',
    meaning: 'MQTT over TLS; open only when a certificate is given.',
  }),
  KIPIMO_TLS_CERT: key({
    kind: readableFile,
    meaning: 'Certificate chain (PEM) for HTTPS and MQTTS; together with KIPIMO_TLS_KEY.',
  }),
  KIPIMO_TLS_KEY: key({
    kind: readableFile,
    meaning: 'Private key (PEM) of that certificate; together with KIPIMO_TLS_CERT.',
  }),
  KIPIMO_DATA_DIR: key({
    kind: directory,
    default: './data',
    meaning: 'Embedded database and what else the service keeps; made when missing.',
  }),
  KIPIMO_DATABASE_URL: key({
    kind: databaseUrl,
    meaning:
      'Where the data is, when it is not in KIPIMO_DATA_DIR: ' +
      '`postgres://user:password@host/database` for PostgreSQL 15 or newer; several servers of ' +
      'one cluster with commas between the hosts (see `scale.md`).',
    isSecret: true,
  }),
  KIPIMO_ADMIN_USERNAME: key({
    kind: username,
    default: 'admin',
    meaning: 'The administrator whom the first start creates.',
  }),
  KIPIMO_ADMIN_PASSWORD: key({
    kind: password,
    meaning:
      'Password of that administrator; without it one is generated and printed once. ' +
      'Later starts do not change the account.',
    isSecret: true,
  }),
  KIPIMO_TOKEN_TTL_S: key({
    kind: seconds,
    default: '600',
    meaning: 'Life of a token of API version 2, in seconds.',
  }),
  KIPIMO_V1_TOKEN_TTL_S: key({
    kind: seconds,
    default: '60',
    meaning: 'Life of a token of API version 1, in seconds.',
  }),
  KIPIMO_SIGNUP: key({
    kind: choice('open', 'closed'),
    default: 'open',
    meaning:
      'Whether anybody may create an account, or administrators alone, until an administrator ' +
      'sets it on the Usage screen.',
  }),
  KIPIMO_PROVE_ADDRESSES: key({
    kind: choice('on', 'off'),
    default: 'on',
    meaning:
      'Whether users must prove an e-mail address or phone number with a code before anything is ' +
      'sent to it. `off` is for installations where strangers cannot sign up; new passwords are ' +
      'mailed to proven addresses in any case.',
  }),
  KIPIMO_PUBLIC_PUSH: key({
    kind: choice('open', 'granted'),
    default: 'open',
    meaning:
      'Who may push to a public device: anybody, or only its owner, administrators and ' +
      'users with a grant.',
  }),
  KIPIMO_VALUE_BYTES_MAX: key({
    kind: bytes(limits.valueBytesMaxMin, limits.valueBytesMaxMax),
    default: '65536',
    meaning:
      'What one value may have, in bytes of its JSON text. What is stored already stays ' +
      'readable; imports by administrators are not held to it.',
  }),
  KIPIMO_QUOTA_GUESTS_BYTES: key({
    kind: bytes(0, Number.MAX_SAFE_INTEGER),
    default: '1073741824',
    meaning:
      'What everything without an owner may take on disk: 32 bytes for a datapoint, as many as ' +
      'its JSON text for a longer value, and the descriptions of devices.',
  }),
  KIPIMO_QUOTA_ACCOUNT_BYTES: key({
    kind: bytes(0, Number.MAX_SAFE_INTEGER),
    meaning: 'What the devices of one account may take on disk; without it there is no quota.',
  }),
  KIPIMO_QUOTA_SIGNUP_BYTES: key({
    kind: bytesOrNone,
    meaning:
      'What the devices of one account may take on disk that signed itself up with this version ' +
      'or a later one; all such accounts together have half of the disk. Default: a tenth of the ' +
      'disk, where it is on this machine; `none`: as other accounts.',
  }),
  KIPIMO_DISK_FLOOR_BYTES: key({
    kind: bytes(0, Number.MAX_SAFE_INTEGER),
    default: '268435456',
    meaning:
      'Free space of the disk below which nothing of guests is stored, below five eighths of ' +
      'which nothing of accounts that signed themselves up, and below half of which ' +
      'nothing of anybody; reads, alarms and deletions go on. 0: no floor.',
  }),
  KIPIMO_RETENTION_RAW_DAYS: key({
    kind: count(1, retentionLimits.retentionDaysMax),
    meaning:
      'For how many days datapoints are kept where nothing nearer is set; what they came to by ' +
      'the hour is kept on. Without it they are kept for ever. See docs/retention.md.',
  }),
  KIPIMO_RETENTION_HOURLY_DAYS: key({
    kind: count(1, retentionLimits.retentionDaysMax),
    meaning:
      'For how many days that is kept which datapoints came to by the hour; not less than ' +
      'KIPIMO_RETENTION_RAW_DAYS. Without it: for ever.',
  }),
  KIPIMO_SMS_CREDIT_NEW: key({
    kind: credit,
    default: '20',
    meaning:
      'The `sms_credit` of an account that signs up itself: how many texts and calls it may send ' +
      'until an administrator gives it more; a whole number, or `unlimited`.',
  }),
  KIPIMO_MESSAGES_PER_DAY: key({
    kind: count(0, 1_000_000),
    default: '200',
    meaning: 'Texts, and calls, that one user may send on a day (UTC), beside the `sms_credit`.',
  }),
  KIPIMO_MESSAGES_PER_DAY_ALL: key({
    kind: count(0, 100_000_000),
    default: '5000',
    meaning:
      'Texts and calls of the whole service on a day (UTC): what strangers can cost at most.',
  }),
  KIPIMO_EVALUATE_ON_CREATE: key({
    kind: flag,
    default: 'false',
    meaning: 'Whether a new notification is also evaluated once when it is created.',
  }),
  KIPIMO_SMS_URL: key({
    kind: providerUrl(channelUrls.sms),
    meaning:
      'Provider of the channel sms: `twilio://…`, `africastalking://…`, `smpps://…` or `log:`.',
    isSecret: true,
  }),
  KIPIMO_VOICE_URL: key({
    kind: providerUrl(channelUrls.voice),
    meaning: 'Provider of the channel voice: `twilio://…`, `africastalking://…` or `log:`.',
    isSecret: true,
  }),
  KIPIMO_TWITTER_URL: key({
    kind: providerUrl(channelUrls.twitter),
    meaning: 'Account for the channel twitter: `x://…` or `log:`.',
    isSecret: true,
  }),
  KIPIMO_SMTP_URL: key({
    kind: providerUrl(channelUrls.email),
    meaning: 'Mail server of the channel email: `smtps://…`, `smtp://…` or `log:`.',
    isSecret: true,
  }),
  KIPIMO_TILE_URL: key({
    kind: tileUrl,
    meaning:
      'Base layer of the maps of the dashboard, for instance a tile server of your own; without ' +
      'it they show an outline of the world, and the page asks no other host for anything.',
  }),
  KIPIMO_TILE_ATTRIBUTION: key({
    kind: plainLine,
    meaning: 'Whom the base layer is from, as shown on the maps.',
  }),
  KIPIMO_CONTACT: key({
    kind: plainLine,
    meaning:
      'Whom people ask who forgot their password and have no e-mail address: a name with a ' +
      'telephone number, say. Everybody reads it on that page.',
  }),
  KIPIMO_WEBHOOK_PRIVATE: key({
    kind: choice('refused', 'allowed'),
    default: 'refused',
    meaning:
      'Whether webhooks of users may reach this machine and its network, and may be `http://` ' +
      'there: for local installations whose users all are trusted.',
  }),
  KIPIMO_TRUSTED_PROXIES: key({
    kind: addressList,
    meaning:
      'Reverse proxies before the service: comma list of addresses and networks. Of them alone ' +
      '`X-Forwarded-For` (read from the right), `X-Forwarded-Proto` and, on every port, the ' +
      'PROXY protocol (version 2) are believed.',
  }),
  KIPIMO_PUBLIC_URL: key({
    kind: origin,
    meaning:
      'Where people reach the service, for instance `https://sensors.example.org`: for links, mails ' +
      'and the check of `Origin`.',
  }),
  KIPIMO_BUDGETS: key({
    kind: budgetTotals,
    meaning:
      'Totals of budgets other than those of docs/limits.md, for instance ' +
      '`connections=80000`; the shares of one account, one address and all guests follow.',
  }),
  KIPIMO_PROCESSES: key({
    kind: choice('one', 'several'),
    default: 'one',
    meaning:
      'Whether several processes serve the database at once, each of which says so; PostgreSQL ' +
      'only. Unfinished: see scale.md.',
  }),
  KIPIMO_SHORT_WAY: key({
    kind: choice('on', 'off'),
    default: 'on',
    meaning:
      'Whether plain pushes, and reads of one device, take a shorter way through the HTTP ' +
      'server. Nothing but the speed changes with it.',
  }),
  KIPIMO_LOG_LEVEL: key({
    kind: choice(...logLevels),
    default: 'info',
    meaning: 'The least urgent kind of log line that is written.',
  }),
} as const;
