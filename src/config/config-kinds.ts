import { accessSync, constants, statSync } from 'node:fs';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { ProviderUrlError } from '../channels/provider-url.ts';
import type { BudgetTotals } from '../domain/budgets/budgets.ts';
import { isBudgetName } from '../domain/budgets/budgets.ts';
import { DomainError } from '../domain/errors.ts';
import { parseNewUsername, type Username } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { serverUrls } from '../lib/server-urls.ts';

/** The kind of a key's values: `must` completes the sentence "KEY must be …". */
export interface Kind<Value> {
  readonly must: string;
  /** Answers undefined when the text is not of this kind. */
  readonly parse: (text: string) => Value | undefined;
  /** Instead of `must`, what is wrong with this very text; says nothing of what it holds. */
  readonly problem?: (text: string) => string;
}

const digits = /^\d{1,16}$/;

/** Whole seconds, at least one. */
export const seconds: Kind<number> = {
  must: 'a whole number of seconds, 1 to 31536000 (a year)',
  parse: (text) => wholeNumber(text, 1, 31_536_000),
};

/** How many of something, whose name completes "a whole number". */
const numberOf =
  (something = '') =>
  (min: number, max: number): Kind<number> => ({
    must: `a whole number${something}, ${min} to ${max}`,
    parse: (text) => wholeNumber(text, min, max),
  });

export const count = numberOf();
export const bytes = numberOf(' of bytes');

/** The same, or a word for no end. */
const numberOr = <Word extends string>(word: Word, something = ''): Kind<number | Word> => ({
  must: `a whole number${something}, or ${word}`,
  parse: (text) => (text === word ? word : wholeNumber(text, 0, Number.MAX_SAFE_INTEGER)),
});

/** An sms_credit. */
export const credit = numberOr('unlimited');
export const bytesOrNone = numberOr('none', ' of bytes');

/** Totals of budgets, by name. */
export const budgetTotals: Kind<BudgetTotals> = {
  must: 'a comma list of <budget>=<whole number from 2>, with the names of docs/limits.md',
  parse: (text) => {
    const totals: Record<string, number> = {};
    for (const part of text.split(',')) {
      const [name = '', amount = ''] = part.split('=', 2).map((word) => word.trim());
      const total = wholeNumber(amount, 2, Number.MAX_SAFE_INTEGER);
      if (!isBudgetName(name) || total === undefined) return undefined;
      totals[name] = total;
    }
    return totals;
  },
};

/** A port to listen on. */
export const port: Kind<number> = {
  must: 'a port, 0 to 65535 (0: any free one)',
  parse: (text) => wholeNumber(text, 0, 65_535),
};

/** The kind of a value that is one of a few words. */
export function choice<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  return {
    must: `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text),
  };
}

/** Yes or no. */
export const flag: Kind<boolean> = {
  must: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

const hostPattern = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** Where to listen. */
export const host = textThat(
  'an IP address or a host name of this machine',
  (text) => isIP(text) !== 0 || hostPattern.test(text),
);

/** IP addresses and networks; says of an address whether it is among them. */
export const addressList: Kind<(address: string) => boolean> = {
  must: 'IP addresses and networks such as 10.0.0.0/8, with commas between them',
  parse: (text) => {
    const list = new BlockList();
    const isRead = text.split(',').every((part) => addNetwork(list, part.trim()));
    return isRead ? (address) => list.check(address, familyOf(address)) : undefined;
  },
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

function addNetwork(list: BlockList, text: string): boolean {
  const [address = '', length, more] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || more !== undefined) return false;
  const prefix = length === undefined ? bits : wholeNumber(length, 0, bits);
  if (prefix === undefined) return false;
  list.addSubnet(address, prefix, familyOf(address));
  return true;
}

/** The origin of a website: scheme, host and port, nothing else. */
export const origin: Kind<string> = {
  must: 'an http:// or https:// address without a path, for instance https://sensors.example.org',
  parse: (text) => {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    const isOrigin = url.href === `${url.origin}/` && !/[?#]/.test(text);
    return isOrigin && /^https?:$/.test(url.protocol) ? url.origin : undefined;
  },
};

/** A directory; made at the start when it is missing. */
export const directory = textThat('the path of a directory', (text) => !text.includes('\0'));

/** Address of a PostgreSQL database; it may have a password in it. */
export const databaseUrl: Kind<string> = {
  must:
    'left out, for SQLite in the data directory, or the address of a PostgreSQL database, ' +
    'postgres://user:password@host/database',
  parse: (text) => (isPostgresUrl(text) && !namesFurther(text) ? text : undefined),
  problem(text) {
    if (text === 'memory:') {
      return (
        'left out: no engine keeps everything in memory any more; for data that may be lost, ' +
        'name a data directory that is in memory, below /dev/shm on Linux'
      );
    }
    if (!namesFurther(text)) return databaseUrl.must;
    return (
      'the address of one database: further ones for history are no more, so leave the first ' +
      'address alone; where further ones have datapoints, docs/scale.md says how they come home'
    );
  },
};

const namesFurther = (text: string): boolean => /,\s*postgres(?:ql)?:\/\//.test(text);
const targets = new Set([null, 'read-write', 'primary']);

/** Whether the URL is of one database, on one server or on hosts of a cluster, commas between. */
function isPostgresUrl(text: string): boolean {
  const servers = serverUrls(text);
  return servers.every((server) => {
    const url = URL.parse(server);
    if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
    if (servers.length > 1 && !targets.has(url.searchParams.get('target_session_attrs'))) {
      return false;
    }
    return url.host !== '' && /^\/[^,]+$/.test(url.pathname);
  });
}

/** A file that this process can read now. */
export const readableFile = textThat('the path of a file that the service may read', isReadable);

/** Where pictures of a map come from. */
export const tileUrl = textThat(
  'an http:// or https:// address with {z}, {x} and {y} in it',
  (text) => tileHost.test(text) && ['{z}', '{x}', '{y}'].every((blank) => text.includes(blank)),
);

const tileHost = /^https?:\/\/(\{s\}\.)?[A-Za-z0-9.-]{1,253}(:\d{1,5})?\/[^\s"'<>\\]{0,500}$/;

/** A line of plain text. */
export const plainLine = textThat(
  'one line of at most 200 characters',
  (text) => text.length <= 200 && !/[\r\n]/.test(text),
);

/** The name of an account. */
export const username: Kind<Username> = {
  must: `a username: 1 to ${limits.usernameCharactersMax} letters, digits and . _ @ -, not guest`,
  parse: (text) => {
    try {
      return parseNewUsername(text);
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  },
};

/** A password that is good enough for an administrator. */
export const password = textThat(
  `${limits.passwordCharactersMin} to ${limits.passwordCharactersMax} characters long`,
  ({ length }) => length >= limits.passwordCharactersMin && length <= limits.passwordCharactersMax,
);

/** The URL of a channel's provider, with its credentials. */
export function providerUrl<Settings>(read: (text: string) => Settings): Kind<Settings> {
  const attempt = (text: string): Settings | ProviderUrlError => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof ProviderUrlError) return error;
      throw error;
    }
  };
  return {
    must: 'the URL of a provider: [channels.md](channels.md)',
    parse: (text) => {
      const settings = attempt(text);
      return settings instanceof ProviderUrlError ? undefined : settings;
    },
    problem: (text) => {
      const error = attempt(text);
      return `${error instanceof ProviderUrlError ? error.message : 'right'} (docs/channels.md)`;
    },
  };
}

/** The kind of texts of which this holds. */
function textThat(must: string, isRight: (text: string) => boolean): Kind<string> {
  return { must, parse: (text) => (isRight(text) ? text : undefined) };
}

function wholeNumber(text: string, min: number, max: number): number | undefined {
  if (!digits.test(text)) return undefined;
  const number = Number(text);
  return number >= min && number <= max ? number : undefined;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, a directory above it missing, or no right: all are "not readable" to the reader.
    return false;
  }
}
