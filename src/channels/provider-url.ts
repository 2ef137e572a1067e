import { isIP } from 'node:net';

/** A provider's URL that cannot be used; the message completes "KEY must be …", without secrets. */
export class ProviderUrlError extends Error {
  override readonly name = 'ProviderUrlError';
}

const urlCharactersMax = 2_048;
const hostPattern = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;
const printable = /^[\x20-\x7e]+$/;

/** The scheme of a URL, in small letters; undefined when it has none. */
export function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
}

/** Takes a provider's URL apart, decoded, nothing empty; refuses parameters not in `known`. */
export function readProviderUrl(text: string, known: readonly string[]) {
  const url = parse(text);
  const username = decoded(url.username, 'the name before the @');
  const password = decoded(url.password, 'the secret before the @');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host !== '' && isIP(host) === 0 && !hostPattern.test(host)) {
    throw new ProviderUrlError('a URL whose host is a name or an IP address');
  }
  if (url.pathname !== '' && url.pathname !== '/') {
    throw new ProviderUrlError('a URL without a path after the host');
  }
  if (url.hash !== '') throw new ProviderUrlError('a URL in which # is written %23');
  return {
    scheme: url.protocol.slice(0, -1),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(host !== '' && { host }),
    ...(url.port !== '' && { port: Number(url.port) }),
    parameters: parametersOf(url, known),
  };
}

function parse(text: string): URL {
  if (text.length > urlCharactersMax) {
    throw new ProviderUrlError(`at most ${urlCharactersMax} characters long`);
  }
  try {
    return new URL(text);
  } catch {
    // The text may hold a secret, so the parser's own words are not shown.
    throw new ProviderUrlError('a URL; write % / ? # @ : in a name or secret as %25 %2F %3F …');
  }
}

function decoded(text: string, what: string): string {
  try {
    const plain = decodeURIComponent(text);
    if (plain === '' || printable.test(plain)) return plain;
  } catch {
    // A lone % sign, most often.
  }
  throw new ProviderUrlError(`a URL in which ${what} is plain ASCII, with % written as %25`);
}

function parametersOf(url: URL, known: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (!known.includes(name)) {
      throw new ProviderUrlError(`a URL whose parameters are among ${known.join(', ')}`);
    }
    if (Object.hasOwn(found, name)) throw new ProviderUrlError(`a URL with one ${name}, not two`);
    // A query writes a space as "+", so a number written +255… arrives with a space.
    const text = value.replace(/^ (?=\d)/, '+').trim();
    if (/\p{C}/u.test(text)) {
      throw new ProviderUrlError(`a URL whose ${name} has no control characters`);
    }
    if (text !== '') found[name] = text;
  }
  return found;
}

/** Where the provider's API is: `base` when it is given (https, or http to this machine). */
export function baseOf(url: ReturnType<typeof readProviderUrl>, defaultHost: string): URL {
  const { base } = url.parameters;
  if (base === undefined) {
    const port = url.port === undefined ? '' : `:${url.port}`;
    const host = url.host ?? defaultHost;
    return new URL(`https://${host.includes(':') ? `[${host}]` : host}${port}/`);
  }
  const parsed = URL.canParse(base) ? new URL(base) : undefined;
  const isSafe =
    parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
  if (parsed === undefined || !isSafe || parsed.username !== '' || parsed.search !== '') {
    throw new ProviderUrlError('a URL whose base is https://…, or http://… to this machine alone');
  }
  return parsed;
}

/** Whether a host means this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || /^127\.\d+\.\d+\.\d+$/.test(bare);
}

/** A part that must be there; `example` shows the whole URL. */
export function needed(value: string | undefined, what: string, example: string): string {
  if (value === undefined) throw new ProviderUrlError(`a URL with ${what}: ${example}`);
  return value;
}
