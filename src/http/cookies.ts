/** The value of one cookie of a request; the first, where there are several of the name. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key = '', value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/**
 * A cookie that scripts cannot read and other sites cannot send [RFC 6265bis]. An age of 0 ends it.
 */
export function cookieText(cookie: {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly ageSeconds: number;
  readonly isSecure: boolean;
}): string {
  const { name, value, path, ageSeconds, isSecure } = cookie;
  const flags = ['HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${name}=${value}`, `Path=${path}`, `Max-Age=${ageSeconds}`, ...flags].join('; ');
}
