import { BlockList, isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandKey } from '../../src/config/command-keys.ts';
import type { ListenConfig } from '../../src/config/config.ts';
import { loadConfigHere, readCommandKey } from '../../src/config/environment-file.ts';
import { invalid } from '../../src/domain/errors.ts';
import {
  addPasswordOptions,
  askPassword,
  givenPassword,
  type PasswordOptions,
} from '../password-options.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

/** As whom a command acts on a service; without a token and a username: as a guest. */
export interface LoginOptions extends PasswordOptions {
  readonly username?: string | undefined;
  readonly token?: string | undefined;
  readonly allowHttp?: boolean | undefined;
}

/** Of a command that speaks to a running service. */
export interface ServiceOptions extends LoginOptions {
  readonly url: string;
}

/** The keys of the environment that stand in for options. */
export interface SecretKeys {
  readonly password: CommandKey;
  readonly token: CommandKey;
}

const usualKeys: SecretKeys = { password: 'KIPIMO_PASSWORD', token: 'KIPIMO_TOKEN' };

/** Adds what every command has that speaks to a running service. */
export function addServiceOptions(
  command: Command,
  username = 'log in as this user; otherwise as a guest',
): Command {
  addUrlOption(command, 'url', 'where the service is').option('--username <name>', username);
  return addPasswordOptions(command)
    .addOption(tokenOption())
    .option(...allowHttpOption);
}

/** Adds an option for an address, which is that of the service with the settings of here. */
export function addUrlOption(command: Command, name: 'url' | 'to', meaning: string): Command {
  return command
    .option(`--${name} <url>`, `${meaning}; otherwise where the settings say`, readUrl)
    .hook('preAction', (_parent, action) => {
      if (action.getOptionValue(name) !== undefined) return;
      action.setOptionValue(name, addressOf(loadConfigHere().config.listen));
    });
}

/** Address of a service as seen from its machine; a certificate is for its public name. */
export function addressOf({ host, httpPort, publicUrl, tls }: ListenConfig): string {
  if (tls !== undefined && publicUrl !== undefined) return publicUrl;
  if (httpPort === 0) throw invalid('KIPIMO_HTTP_PORT is 0, any free port: give the address');
  const name =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (isIP(host) === 6 ? `[${host}]` : host);
  return tls === undefined ? `http://${name}:${httpPort}` : `https://${name}:${httpPort}`;
}

/** An option for a token, which goes with no username. */
export function tokenOption(prefix: '' | 'to-' = '', key: CommandKey = usualKeys.token): Option {
  const others =
    prefix === ''
      ? ['username', 'password', 'passwordFile']
      : ['toUsername', 'toPassword', 'toPasswordFile'];
  const meaning = `a token, or better an access key, which does not expire; otherwise ${key}`;
  return new Option(`--${prefix}token <text>`, meaning).conflicts(others);
}

/** An address as it is given; throws a usage error for anything else. */
export function readUrl(text: string): string {
  if (/^https?:\/\/[^/\s]/i.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('write it with its scheme, for instance http://127.0.0.1:8080.');
}

/** A client of that service, logged in as the options say. Throws LoginError, and invalid. */
export async function openService(
  options: ServiceOptions,
  isImporting = false,
): Promise<ApiClient> {
  const { signal } = new AbortController();
  const wait = (pauseMs: number) => delay(pauseMs);
  const client = createApiClient({ url: options.url, signal, wait, isImporting });
  await logInAs(client, options);
  return client;
}

/** Logs the client in as the options say. Throws LoginError, and invalid without encryption. */
export async function logInAs(
  client: ApiClient,
  options: LoginOptions,
  keys: SecretKeys = usualKeys,
): Promise<void> {
  const token = tokenOf(options, keys);
  const { username } = options;
  if (token === undefined && username === undefined) return;
  requireEncryption(client.url, options.allowHttp);
  if (token !== undefined) client.authorize(token);
  else if (username !== undefined) {
    await client.logIn(username, await passwordOf(username, options, keys));
  }
}

/** The token given, or that of the environment where no user is named. */
export function tokenOf(options: LoginOptions, keys = usualKeys): string | undefined {
  const { token, username } = options;
  return token ?? (username === undefined ? readCommandKey(keys.token) : undefined);
}

/** The same options with the usual administrator, where no user is named. */
export function asAdmin<Options extends LoginOptions>(options: Options): Options {
  if (options.username !== undefined || tokenOf(options) !== undefined) return options;
  return { ...options, username: 'admin' };
}

/** The password given, or what is typed when the terminal asks for it. */
export async function passwordOf(
  username: string,
  options: PasswordOptions,
  keys = usualKeys,
): Promise<string> {
  const given = await givenPassword(options, keys.password);
  return given ?? (await askPassword(username, keys));
}

/** For commands that log in somewhere. */
export const allowHttpOption = [
  '--allow-http',
  'send the password or token without encryption to another machine',
] as const;

/** Throws when a password or token would travel to another machine without encryption. */
export function requireEncryption(url: string, isAllowed: boolean | undefined): void {
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
