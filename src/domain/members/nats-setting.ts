/** Where NATS is, and who may use it. */
export interface NatsSetting {
  /** `host:port` of each server of one cluster. */
  readonly servers: readonly string[];
  readonly isTls: boolean;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}
