import { createHmac, hkdfSync } from 'node:crypto';

/** The headers that prove where a message comes from; docs/channels.md shows how to check them. */
export function signedHeaders(parts: {
  readonly secret: string;
  readonly deliveryId: string;
  readonly body: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
}): Readonly<Record<string, string>> {
  const { secret, deliveryId, body, timestamp } = parts;
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return {
    'kipimo-delivery': deliveryId,
    'kipimo-timestamp': `${timestamp}`,
    'kipimo-signature': `sha256=${digest}`,
  };
}

/** The secret of one user's receivers: theirs alone, and the same after every restart. */
export function webhookSecretOf(installationSecret: string, username: string): string {
  const key = hkdfSync('sha256', installationSecret, 'kipimo webhook', username.toLowerCase(), 32);
  return Buffer.from(key).toString('hex');
}
