import { readFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { invalid } from '../../domain/errors.ts';
import type { ApiClient } from './api-client.ts';
import { askPassword } from './password-prompt.ts';

/** How a password may be given to a command; neither: it is asked for. */
export interface PasswordOptions {
  readonly password?: string | undefined;
  readonly passwordFile?: string | undefined;
}

/** As whom a command acts on a service; without a token and a username: as a guest. */
export interface LoginOptions extends PasswordOptions {
  readonly username?: string | undefined;
  readonly token?: string | undefined;
  readonly allowHttp?: boolean | undefined;
}

/** Logs the client in as the options say. Throws LoginError, and invalid without encryption. */
export async function logInAs(client: ApiClient, options: LoginOptions): Promise<void> {
  const { username, token } = options;
  if (token === undefined && username === undefined) return;
  requirePrivateWay(client.url, options.allowHttp);
  if (token !== undefined) client.authorize(token);
  else if (username !== undefined)
    await client.logIn(username, await passwordOf(username, options));
}

/** The password given, or what is typed when the terminal asks for it. */
export async function passwordOf(username: string, options: PasswordOptions): Promise<string> {
  return (await givenPassword(options)) ?? (await askPassword(`Password of ${username}: `));
}

/** The password from the command line, with a warning, or from a file; undefined: neither. */
export async function givenPassword(options: PasswordOptions): Promise<string | undefined> {
  const { password, passwordFile } = options;
  if (password !== undefined && passwordFile !== undefined) {
    throw invalid('give --password or --password-file, not both');
  }
  if (password !== undefined) {
    process.stderr.write(
      'kipimo: --password can be seen by everybody on this machine (ps): better give ' +
        '--password-file, or nothing, and it is asked for\n',
    );
    return password;
  }
  if (passwordFile === undefined) return undefined;
  // Editors end the last line.
  return (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
}

/** For commands that log in somewhere. */
export const allowHttpOption = [
  '--allow-http',
  'send the password or token without encryption to another machine',
] as const;

/** Throws when a password or token would travel to another machine without encryption. */
export function requirePrivateWay(url: string, isAllowed: boolean | undefined): void {
  if (isAllowed === true || !URL.canParse(url)) return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || isThisMachine(hostname)) return;
  throw invalid(
    `${url} is not encrypted: everybody on the way could read the password or token; ` +
      'give its https:// address, or --allow-http if you trust that network',
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isThisMachine(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(name);
  if (family !== 0) return loopback.check(name, family === 6 ? 'ipv6' : 'ipv4');
  return name === 'localhost' || name.endsWith('.localhost');
}
