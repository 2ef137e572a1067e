import { channelUrls } from '../channels/provider-settings.ts';
import { retentionLimits } from '../domain/datapoints/retention/retention.ts';
import { limits } from '../domain/limits.ts';
import { defined } from '../lib/record.ts';
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

/** A key of what is no secret; `usual`: its default, as one would write it. */
const key = <Value>(kind: Kind<Value>, meaning: string, usual?: string): ConfigKey<Value> =>
  defined({ kind, default: usual, meaning });

const secret = <Value>(kind: Kind<Value>, meaning: string): ConfigKey<Value> =>
  defined({ kind, meaning, isSecret: true as const });

const anyBytes = bytes(0, Number.MAX_SAFE_INTEGER);

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
  KIPIMO_HOST: key(host, 'Address to listen on.', '0.0.0.0'),
  KIPIMO_HTTP_PORT: key(
    port,
    'HTTP: the API, the dashboard at `/`, the reference at `/docs`.',
    '8080',
  ),
  KIPIMO_MQTT_PORT: key(port, 'MQTT over TCP.', '1883'),
  KIPIMO_MQTTS_PORT: key(port, 'MQTT over TLS; open only when a certificate is given.', '8883'),
  KIPIMO_TLS_CERT: key(
    readableFile,
    'Certificate chain (PEM) for HTTPS and MQTTS; together with KIPIMO_TLS_KEY.',
  ),
  KIPIMO_TLS_KEY: key(
    readableFile,
    'Private key (PEM) of that certificate; together with KIPIMO_TLS_CERT.',
  ),
  KIPIMO_DATA_DIR: key(
    directory,
    'Embedded database and what else the service keeps; made when missing.',
    './data',
  ),
  KIPIMO_DATABASE_URL: secret(
    databaseUrl,
    'Where the data is, when it is not in KIPIMO_DATA_DIR: ' +
      '`postgres://user:password@host/database` for PostgreSQL 15 or newer; several servers of ' +
      'one cluster with commas between the hosts (see `scale.md`).',
  ),
  KIPIMO_ADMIN_USERNAME: key(username, 'The administrator whom the first start creates.', 'admin'),
  KIPIMO_ADMIN_PASSWORD: secret(
    password,
    'Password of that administrator; without it one is generated and printed once. ' +
      'Later starts do not change the account.',
  ),
  KIPIMO_TOKEN_TTL_S: key(seconds, 'Life of a token of API version 2, in seconds.', '600'),
  KIPIMO_V1_TOKEN_TTL_S: key(seconds, 'Life of a token of API version 1, in seconds.', '60'),
  KIPIMO_SIGNUP: key(
    choice('open', 'closed'),
    'Whether anybody may create an account, or administrators alone, until an administrator ' +
      'sets it on the Usage screen.',
    'open',
  ),
  KIPIMO_PROVE_ADDRESSES: key(
    choice('on', 'off'),
    'Whether users must prove an e-mail address or phone number with a code before anything is ' +
      'sent to it. `off` is for installations where strangers cannot sign up; new passwords are ' +
      'mailed to proven addresses in any case.',
    'on',
  ),
  KIPIMO_PUBLIC_PUSH: key(
    choice('open', 'granted'),
    'Who may push to a public device: anybody, or its owner, administrators, and who has a grant.',
    'open',
  ),
  KIPIMO_VALUE_BYTES_MAX: key(
    bytes(limits.valueBytesMaxMin, limits.valueBytesMaxMax),
    'What one value may have, in bytes of its JSON text. What is stored already stays ' +
      'readable; imports by administrators are not held to it.',
    '65536',
  ),
  KIPIMO_QUOTA_GUESTS_BYTES: key(
    anyBytes,
    'What everything without an owner may take on disk: 32 bytes for a datapoint, as many as ' +
      'its JSON text for a longer value, and the descriptions of devices.',
    '1073741824',
  ),
  KIPIMO_QUOTA_ACCOUNT_BYTES: key(
    anyBytes,
    'What the devices of one account may take on disk; without it there is no quota.',
  ),
  KIPIMO_QUOTA_SIGNUP_BYTES: key(
    bytesOrNone,
    'What the devices of one account may take on disk that signed itself up with this version ' +
      'or a later one; all such accounts together have half of the disk. Default: a tenth of the ' +
      'disk, where it is on this machine; `none`: as other accounts.',
  ),
  KIPIMO_DISK_FLOOR_BYTES: key(
    anyBytes,
    'Free space of the disk below which nothing of guests is stored, below five eighths of ' +
      'which nothing of accounts that signed themselves up, and below half of which ' +
      'nothing of anybody; reads, alarms and deletions go on. 0: no floor.',
    '268435456',
  ),
  KIPIMO_RETENTION_RAW_DAYS: key(
    count(1, retentionLimits.retentionDaysMax),
    'For how many days datapoints are kept where nothing nearer is set; what they came to by ' +
      'the hour is kept on. Without it they are kept for ever. See docs/retention.md.',
  ),
  KIPIMO_RETENTION_HOURLY_DAYS: key(
    count(1, retentionLimits.retentionDaysMax),
    'For how many days that is kept which datapoints came to by the hour; not less than ' +
      'KIPIMO_RETENTION_RAW_DAYS. Without it: for ever.',
  ),
  KIPIMO_SMS_CREDIT_NEW: key(
    credit,
    'The `sms_credit` of an account that signs up itself: how many texts and calls it may send ' +
      'until an administrator gives it more; a whole number, or `unlimited`.',
    '20',
  ),
  KIPIMO_MESSAGES_PER_DAY: key(
    count(0, 1_000_000),
    'Texts, and calls, that one user may send on a day (UTC), beside the `sms_credit`.',
    '200',
  ),
  KIPIMO_MESSAGES_PER_DAY_ALL: key(
    count(0, 100_000_000),
    'Texts and calls of the whole service on a day (UTC): what strangers can cost at most.',
    '5000',
  ),
  KIPIMO_EVALUATE_ON_CREATE: key(
    flag,
    'Whether a new notification is also evaluated once when it is created.',
    'false',
  ),
  KIPIMO_SMS_URL: secret(
    providerUrl(channelUrls.sms),
    'Provider of the channel sms: `twilio://…`, `africastalking://…`, `smpps://…` or `log:`.',
  ),
  KIPIMO_VOICE_URL: secret(
    providerUrl(channelUrls.voice),
    'Provider of the channel voice: `twilio://…`, `africastalking://…` or `log:`.',
  ),
  KIPIMO_TWITTER_URL: secret(
    providerUrl(channelUrls.twitter),
    'Account for the channel twitter: `x://…` or `log:`.',
  ),
  KIPIMO_SMTP_URL: secret(
    providerUrl(channelUrls.email),
    'Mail server of the channel email: `smtps://…`, `smtp://…` or `log:`.',
  ),
  KIPIMO_TILE_URL: key(
    tileUrl,
    'Base layer of the maps of the dashboard, for instance a tile server of your own; without ' +
      'it they show an outline of the world, and the page asks no other host for anything.',
  ),
  KIPIMO_TILE_ATTRIBUTION: key(plainLine, 'Whom the base layer is from, as shown on the maps.'),
  KIPIMO_CONTACT: key(
    plainLine,
    'Whom people ask who forgot their password and have no e-mail address: a name with a ' +
      'telephone number, say. Everybody reads it on that page.',
  ),
  KIPIMO_WEBHOOK_PRIVATE: key(
    choice('refused', 'allowed'),
    'Whether webhooks of users may reach this machine and its network, and may be `http://` ' +
      'there: for local installations whose users all are trusted.',
    'refused',
  ),
  KIPIMO_TRUSTED_PROXIES: key(
    addressList,
    'Reverse proxies before the service: comma list of addresses and networks. Of them alone ' +
      '`X-Forwarded-For` (read from the right), `X-Forwarded-Proto` and, on every port, the ' +
      'PROXY protocol (version 2) are believed.',
  ),
  KIPIMO_PUBLIC_URL: key(
    origin,
    'Where people reach the service, for instance `https://sensors.example.org`: for links, mails ' +
      'and the check of `Origin`.',
  ),
  KIPIMO_BUDGETS: key(
    budgetTotals,
    'Totals of budgets other than those of docs/limits.md, for instance ' +
      '`connections=80000`; the shares of one account, one address and all guests follow.',
  ),
  KIPIMO_PROCESSES: key(
    choice('one', 'several'),
    'Whether several processes serve the database at once, each of which says so; PostgreSQL ' +
      'only. Unfinished: see scale.md.',
    'one',
  ),
  KIPIMO_SHORT_WAY: key(
    choice('on', 'off'),
    'Whether plain pushes, and reads of one device, take a shorter way through the HTTP ' +
      'server. Nothing but the speed changes with it.',
    'on',
  ),
  KIPIMO_LOG_LEVEL: key(
    choice(...logLevels),
    'The least urgent kind of log line that is written.',
    'info',
  ),
} as const;
