/** What API version 2 answers, as far as the screens use it (docs/openapi/v2.json). */

export interface Datapoint {
  readonly value: unknown;
  readonly timestamp?: string;
  readonly date_received?: string;
}

export interface CalibrationPoint {
  readonly sensor_value: number;
  readonly real_value: number;
}

export interface Calibration {
  readonly linear: {
    readonly enabled?: boolean;
    readonly value_min?: CalibrationPoint;
    readonly value_max?: CalibrationPoint;
    readonly points?: readonly CalibrationPoint[];
  };
}

export interface Sensor {
  readonly id: string;
  readonly name?: string;
  readonly sensing_device?: string;
  readonly sensor_kind?: string;
  readonly quantity_kind?: string;
  readonly unit?: string;
  readonly calib?: Calibration;
  readonly last_value?: Datapoint;
}

export type ActuatorValueType = 'string' | 'number' | 'bool' | 'null' | 'object' | 'array';

export interface Actuator {
  readonly id: string;
  readonly name?: string;
  readonly actuator_kind?: string;
  readonly actuator_value_type?: ActuatorValueType;
  readonly value?: unknown;
  /** For those who may set it: who did, and when. */
  readonly set_by?: string;
  readonly set_at?: string;
  /** When the device said that it is so. */
  readonly confirmed_at?: string;
  /** When it is set back. */
  readonly until?: string;
}

export interface Location {
  readonly latitude: number;
  readonly longitude: number;
}

export interface Device {
  readonly id: string;
  readonly name?: string;
  readonly gateway_id?: string;
  readonly domain?: string;
  readonly visibility?: 'public' | 'private';
  readonly location?: Location;
  readonly owner: string;
  readonly sensors: readonly Sensor[];
  readonly actuators: readonly Actuator[];
  readonly meta?: unknown;
  readonly deployed?: boolean;
  /** Handed over to its owner and not accepted yet. */
  readonly pending?: boolean;
  /** The zone its days are cut in. */
  readonly timezone?: string;
  readonly date_created: string;
  readonly date_modified: string;
}

export interface User {
  readonly id: string;
  readonly createdTime: number;
  readonly username: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly email?: string;
  readonly phone?: readonly string[];
  readonly address?: readonly string[];
  readonly facebook?: readonly string[];
  readonly twitter?: readonly string[];
  readonly admin?: boolean;
  readonly disabled?: boolean;
  readonly sms_credit?: number;
  readonly webhook?: readonly string[];
  /** The e-mail address and phone numbers that were proven to be this user's. */
  readonly proven?: { readonly email?: readonly string[]; readonly phone?: readonly string[] };
  /** Bytes that the own devices take on disk. */
  readonly storage?: { readonly used: number; readonly quota?: number };
}

export interface Permission {
  readonly resource: string;
  readonly scopes: readonly string[];
}

/** To a user, or to whoever is in a group. */
export interface Grant {
  readonly username?: string;
  /** The id of the group. */
  readonly group?: string;
  /** What the group is called. */
  readonly name?: string;
  readonly scopes: readonly string[];
}

export interface MyGrants {
  readonly given: readonly (Grant & { readonly kind: string; readonly resource: string })[];
  readonly received: readonly {
    readonly kind: string;
    readonly resource: string;
    readonly owner: string;
    readonly scopes: readonly string[];
    /** The group one is in, when it was granted to that. */
    readonly group?: string;
    readonly name?: string;
  }[];
}

/** People under one name. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly usernames: readonly string[];
}

export interface BrowserLogin {
  readonly id: string;
  readonly name: string;
  readonly last_used: string;
  readonly address: string;
}

/** A key for machines. */
export interface AccessKey {
  readonly id: string;
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly devices?: readonly string[];
  readonly expires?: string;
  readonly date_created: string;
}

export interface Term {
  readonly id: string;
  readonly label: string;
  /** Of sensor kinds. */
  readonly quantity_kinds?: readonly string[];
  /** Of quantity kinds. */
  readonly units?: readonly string[];
}

export interface Gateway {
  readonly id: string;
  readonly name?: string;
  readonly visibility?: 'public' | 'private';
  readonly owner: string;
  readonly location?: Location;
  readonly date_created: string;
  readonly connected: boolean;
  /** When its last heartbeat came. */
  readonly last_seen?: string;
  /** With full=true. */
  readonly devices?: readonly Device[];
}

export interface Project {
  readonly id: string;
  readonly name?: string;
  readonly owner: string;
  readonly device_ids: readonly string[];
  readonly gateway_ids: readonly string[];
  /** For its owner: what grants on the project do not reach, as somebody else listed it. */
  readonly unshared?: {
    readonly device_ids: readonly string[];
    readonly gateway_ids: readonly string[];
  };
  /** With full=true: those one may see. */
  readonly devices?: readonly Device[];
  readonly gateways?: readonly Gateway[];
}
