import {
  isLoopback,
  needed,
  ProviderUrlError,
  readProviderUrl,
  schemeOf,
} from '../provider-url.ts';

/** A mail server that takes messages for others, and the sender's address. */
export interface EmailSettings {
  readonly provider: 'smtp';
  readonly host: string;
  readonly port: number;
  /** tls: from the first byte; starttls: before anything is said; plain: never asked for. */
  readonly security: 'tls' | 'starttls' | 'plain';
  readonly login?: { readonly user: string; readonly pass: string };
  readonly from: string;
  readonly senderName: string;
}

const example = 'smtps://USER:PASSWORD@mail.example.org?from=kipimo@example.org';

/** Reads KIPIMO_SMTP_URL; throws ProviderUrlError. */
export function readSmtpUrl(text: string): EmailSettings {
  const scheme = schemeOf(text);
  if (scheme !== 'smtp' && scheme !== 'smtps') {
    throw new ProviderUrlError('a URL: smtps://…, smtp://… or log:');
  }
  const url = readProviderUrl(text, ['from', 'name', 'tls']);
  const host = needed(url.host, 'a host', example);
  const { username: user, password: pass } = url;
  if ((user === undefined) !== (pass === undefined)) {
    throw new ProviderUrlError(`a URL with both a user and a password, or neither: ${example}`);
  }
  const { tls, name = 'Kipimo' } = url.parameters;
  if (tls !== undefined && tls !== 'required' && tls !== 'off') {
    throw new ProviderUrlError('a URL with tls=required or tls=off');
  }
  if (tls === 'off' && user !== undefined && !isLoopback(host)) {
    throw new ProviderUrlError('a URL without tls=off: a password must not travel in clear');
  }
  const isOff = tls === 'off' || (tls === undefined && isLoopback(host));
  const from = url.parameters['from'] ?? (user?.includes('@') === true ? user : undefined);
  const sender = needed(from, 'from=, the address that sends', example);
  if (!isMailAddress(sender)) throw new ProviderUrlError(`a URL whose from is an address`);
  return {
    provider: 'smtp',
    host,
    port: url.port ?? (scheme === 'smtps' ? 465 : 587),
    security: scheme === 'smtps' ? 'tls' : isOff ? 'plain' : 'starttls',
    ...(user !== undefined && pass !== undefined && { login: { user, pass } }),
    from: sender,
    senderName: name,
  };
}

/** Whether it is a plain address: no list, no name, no comment, nothing that ends a header. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>(),;:"\\[\]]{1,64}@[^\s@<>(),;:"\\[\]]+$/.test(text);
}
