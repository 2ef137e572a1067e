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

/**
 * The secret of one user's receivers: the one stored with the account, or of an account older than
 * stored secrets the one that follows from its name [HKDF, RFC 5869]. The same after every restart.
 */
export function webhookSecretOf(
  installationSecret: string,
  account: { readonly username: string; readonly webhookSecret?: string },
): string {
  if (account.webhookSecret !== undefined) return account.webhookSecret;
  const name = account.username.toLowerCase();
  const key = hkdfSync('sha256', installationSecret, 'kipimo webhook', name, 32);
  return Buffer.from(key).toString('hex');
}
