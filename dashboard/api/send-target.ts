/** Boards that there are lines for. */
export const boards = ['ESP32', 'ESP8266', 'Uno + Ethernet'] as const;
export type Board = (typeof boards)[number];

/** The network that a board joins. */
export interface Wifi {
  readonly name: string;
  readonly password: string;
}

/** Where and as what a device sends. */
export interface SendTarget {
  /** With scheme, host and port. */
  readonly origin: string;
  readonly host: string;
  readonly mqttPort: number;
  readonly device: string;
  readonly sensor: string;
  /** Absent: none is needed. */
  readonly key?: string;
  readonly username?: string;
  /** What an Arduino sketch is for; absent: an ESP32. */
  readonly board?: Board;
  /** What a board with Wi-Fi joins; absent: none is known yet. */
  readonly wifi?: Wifi;
}

/** An id in an address, with the four encoded that encodeURIComponent leaves and shells mind. */
const part = (id: string): string =>
  encodeURIComponent(id).replace(/[!'*~]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);

/** Where values of the sensor go. */
export const valueAddress = ({ origin, device, sensor }: SendTarget): string =>
  `${origin}/api/v2/devices/${part(device)}/sensors/${part(sensor)}/value`;

/** Where an actuator is asked for. */
export const controlAddress = ({ origin, device }: SendTarget, actuator: string): string =>
  `${origin}/api/v2/devices/${part(device)}/actuators/${part(actuator)}`;
