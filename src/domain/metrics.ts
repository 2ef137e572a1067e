/** A metric that the service measures about itself, with its values by label. */
export interface Metric {
  readonly name: string;
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
}

/** Metrics that the service measures about itself. */
export interface MetricSource {
  names(): readonly string[];
  read(): Promise<readonly Metric[]>;
}

/** Figures of the MQTT broker: some as of now, the rest since the start. */
export interface MqttMetrics {
  readonly connections: number;
  readonly sessions: number;
  readonly subscriptions: number;
  readonly retained: number;
  readonly queuedMessages: number;
  readonly queuedBytes: number;
  readonly messagesReceived: number;
  readonly messagesSent: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Messages that did not reach a session, by why. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Connections that the broker ended, by MQTT 5 reason code. */
  readonly closedByCode: ReadonlyMap<number, number>;
}

/** Memory of a thread beside the main one, in bytes. */
export interface ThreadMemory {
  /** Objects of its heap, garbage included. */
  readonly heapUsed: number;
  /** Memory of the process that the heap holds. */
  readonly heapTotal: number;
  /** Buffers and other memory that its objects hold outside of the heap. */
  readonly external: number;
}
