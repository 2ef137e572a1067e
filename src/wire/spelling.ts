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
