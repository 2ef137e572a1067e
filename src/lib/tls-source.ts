/** A certificate chain and its private key, PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Where servers get their certificate from, now and when it is renewed. */
export interface TlsSource {
  readonly pair: TlsPair;
  /** Calls back with the new pair whenever there is one. */
  onChange(listener: (pair: TlsPair) => void): void;
}
