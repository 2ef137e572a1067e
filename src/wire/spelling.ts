import { isRecord } from '../lib/record.ts';

/**
 * How one version of the API spells what is written and read by hand, since there is so much of it.
 * All other messages are renamed by their schemas.
 */
export interface Spelling {
  /** The key of a device's id beside a datapoint. */
  readonly deviceId: string;
  /** The key of a sensor's id beside a datapoint. */
  readonly sensorId: string;
  /** The key of a device's sensors. */
  readonly sensors: string;
  /** A message of a device in the words of this version; the message is left as it is. */
  readonly device: (message: object) => object;
  /** Whether a CSV of one sensor repeats its ids in each line. */
  readonly hasIdsInCsv: boolean;
  /** The field that the filter q means by a name. */
  readonly queryField: (name: string) => string;
}

/** The words of version 2. */
export const v2Spelling: Spelling = {
  deviceId: 'device_id',
  sensorId: 'sensor_id',
  sensors: 'sensors',
  device: (message) => message,
  hasIdsInCsv: true,
  queryField: (name) => name,
};

/** Longer texts of `meta` are left out where it is asked for shortly, in UTF-16 code units. */
export const shortMetaCharacters = 1_000;

// Short forms by spelling: texts of devices are kept by the spelling they are written in.
const spellings = new WeakMap<Spelling, Spelling>();

/** The same words, without the long texts of `meta`, such as photos. */
export function withShortMeta(spelling: Spelling): Spelling {
  const known = spellings.get(spelling);
  if (known !== undefined) return known;
  const short = { ...spelling, device: (message: object) => spelling.device(shortened(message)) };
  spellings.set(spelling, short);
  return short;
}

function shortened(message: object): object {
  const { meta } = message as { readonly meta?: unknown };
  if (!isRecord(meta)) return message;
  const fields = Object.entries(meta);
  const short = fields.filter(([, value]) => !isLong(value));
  return short.length === fields.length ? message : { ...message, meta: Object.fromEntries(short) };
}

const isLong = (value: unknown): boolean =>
  typeof value === 'string' && value.length > shortMetaCharacters;
