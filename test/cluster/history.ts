/** What became of a request, as far as its client knows. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** A value that a client sent, once or again until it was answered. Times: ms of one clock. */
export interface Sent {
  readonly by: string;
  readonly sensor: string;
  readonly mark: string;
  /** Counted by its client and sensor. */
  readonly place: number;
  /** By MQTT; absent: by HTTP. */
  readonly qos?: 1 | 2;
  readonly isTimed: boolean;
  readonly sentAt: number;
  sends: number;
  outcome: Outcome;
  /** When the outcome was known; until then Infinity. */
  answeredAt: number;
}

/** What a read answered, of one sensor, everything there was. */
export interface Read {
  readonly at: string;
  readonly sensor: string;
  readonly beganAt: number;
  readonly marks: readonly string[];
}

/** Who subscribed to sensors, from SUBACK to UNSUBACK. */
export interface Subscription {
  readonly session: string;
  readonly qos: 1 | 2;
  readonly sensors: ReadonlySet<string>;
  /** Sessions of which one gets each message; absent: the session itself. */
  readonly members?: ReadonlySet<string>;
  readonly from: number;
  readonly until: number;
}

/** A message that a session received; of one that came twice with QoS 2 only what was handed on. */
export interface Received {
  readonly session: string;
  readonly sensor: string;
  readonly mark: string;
  readonly isDuplicate: boolean;
  readonly at: number;
}

/** A message of a notification that reached its receiver. */
export interface Message {
  readonly rule: string;
  /** The same when it is repeated. */
  readonly id: string;
  readonly mark: string;
  /** By the clock of the service. */
  readonly created: number;
}

/** Which values a rule is about, and what it told. */
export interface Rule {
  readonly name: string;
  readonly sensor: string;
  /** The least time between two firings; 0: none. */
  readonly windowMs: number;
  /** The marks of the deliveries that the service keeps. */
  readonly deliveries: readonly string[];
}

/** From this answer on these may not be told of the sensors any more, until they may again. */
export interface Revocation {
  readonly sessions: ReadonlySet<string>;
  readonly sensors: ReadonlySet<string>;
  readonly answeredAt: number;
  until: number;
}

/** A connection of a client id, from CONNACK to its end. */
export interface Connected {
  readonly client: string;
  readonly from: number;
  until: number;
}

/** How long a client that comes back at another process waited for CONNACK. */
export interface Takeover {
  readonly at: number;
  readonly ms: number;
}

/** A client with a will that ended without a goodbye, and how often its will came. */
export interface Death {
  readonly client: string;
  wills: number;
  /** When each came, in seconds of this clock, and as which packet. */
  readonly copies?: string[];
}

/** What clients asked and were answered in a run, and what was there at its end. */
export interface History {
  readonly sent: Sent[];
  readonly reads: Read[];
  /** Read when all was quiet, at each process. */
  readonly stored: Read[];
  readonly subscriptions: Subscription[];
  readonly received: Received[];
  readonly rules: Rule[];
  readonly messages: Message[];
  readonly revocations: Revocation[];
  readonly connected: Connected[];
  readonly deaths: Death[];
  readonly takeovers: Takeover[];
  /** From the begin of each fault until all were served again. */
  readonly disturbed: { readonly from: number; readonly until: number }[];
  /** What a client saw that no service may do, in words. */
  readonly oddities: string[];
}

/** A history in which nothing has happened. */
export function emptyHistory(): History {
  return {
    ...{ sent: [], reads: [], stored: [], subscriptions: [], received: [], rules: [] },
    ...{ messages: [], revocations: [], connected: [], deaths: [], oddities: [] },
    ...{ takeovers: [], disturbed: [] },
  };
}
