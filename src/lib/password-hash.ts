import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cost of a hash, for its maker and for those who guess at it. */
export interface PasswordCost {
  readonly memoryKibibytes: number;
  readonly passes: number;
}

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane; about 30 ms of one core. */
export const usualPasswordCost: PasswordCost = { memoryKibibytes: 19_456, passes: 2 };
const [parallelism, tagLength, saltBytes] = [1, 32, 16];

/** Hashes a password with argon2id [RFC 9106] on the thread pool; answers a PHC string. */
export async function hashPassword(
  password: string,
  { memoryKibibytes: memory, passes }: PasswordCost = usualPasswordCost,
): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await derive({ password, salt, memory, passes, parallelism, tagLength });
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{8,128})\$([\w+/]{16,128})$/;

/** A hash from elsewhere may cost so many times our own: checking one must not delay others. */
const costFactorMax = 4;

/** Whether it is a hash that can be read, and checked at a bounded cost. */
export function isTakeableHash(hash: string): boolean {
  const [, memory, passes, parallelism] = phcPattern.exec(hash)?.map(Number) ?? [];
  if (memory === undefined || passes === undefined || parallelism === undefined) return false;
  const { memoryKibibytes } = usualPasswordCost;
  return (
    memory <= costFactorMax * memoryKibibytes &&
    memory * passes <= costFactorMax * memoryKibibytes * usualPasswordCost.passes &&
    parallelism <= costFactorMax &&
    passes >= 1 &&
    parallelism >= 1 &&
    memory >= 8 * parallelism
  );
}

/** Whether it is the hashed password; a hash unreadable, or too costly to check, matches none. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const match = phcPattern.exec(hash);
  if (match === null || !isTakeableHash(hash)) return false;
  const [, memory, passes, parallelism, salt = '', tag = ''] = match;
  const expected = Buffer.from(tag, 'base64');
  const actual = await derive({
    password,
    salt: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected);
}

function derive(options: {
  readonly password: string;
  readonly salt: Buffer;
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
}): Promise<Buffer> {
  const { password, salt, ...parameters } = options;
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message: password, nonce: salt, ...parameters }, (error, tag) => {
      if (error === null || error === undefined) resolve(tag);
      else reject(error);
    });
  });
}

const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
