import { DomainError, invalid } from '../domain/errors.ts';
import type { ListedAccount } from '../domain/groups/account-import.ts';
import { parseNewUsername } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { requireStrongPassword } from '../domain/users/password-work.ts';
import { unguarded } from '../lib/csv-cell.ts';
import { type CsvCell, type CsvRecord, createCsvReader } from '../lib/csv-reader.ts';
import { createEncodingFinder } from '../lib/text-encoding.ts';
import { refusing } from './csv-datapoints.ts';
import { profileFromWire } from './user.ts';

const columns = [
  'username',
  'name',
  'firstName',
  'lastName',
  'email',
  'phone',
  'group',
  'password',
];

/**
 * Reads a list of people, one in each row below the names of the columns. A row that makes no
 * account says why; throws DomainError invalid for what is no such list.
 */
export function accountsFromCsv(bytes: Uint8Array): readonly ListedAccount[] {
  const [header, ...rows] = recordsOf(bytes);
  const names = namesIn(header);
  const max = limits.usersPageMax;
  if (rows.length > max) {
    throw invalid(`one request makes at most ${max} accounts, got ${rows.length}`);
  }
  return rows.map((row) => accountOf(row, names));
}

function recordsOf(bytes: Uint8Array): readonly CsvRecord[] {
  const finder = createEncodingFinder();
  finder.push(bytes);
  const text = new TextDecoder(finder.end()).decode(bytes);
  const { csvRecordCharactersMax: recordCharactersMax } = limits;
  const reader = createCsvReader({ recordCharactersMax });
  return refusing(() => [...reader.push(text), ...reader.end()]);
}

/** The columns in their order; their case does not matter, nor an underscore in them. */
function namesIn(header: CsvRecord | undefined): readonly string[] {
  const spelled = (text: string) => text.trim().replaceAll('_', '').toLowerCase();
  const names = (header?.cells ?? []).map(({ text }) => {
    const known = columns.find((column) => spelled(column) === spelled(text));
    if (known === undefined) {
      const got = JSON.stringify(text.slice(0, 40));
      throw invalid(`the first line has the column ${got}: name some of ${columns.join(', ')}`);
    }
    return known;
  });
  if (names.includes('username') && new Set(names).size === names.length) return names;
  throw invalid(`the first line must name username once, and some of ${columns.join(', ')}`);
}

function accountOf({ cells }: CsvRecord, names: readonly string[]): ListedAccount {
  const cellOf = (name: string): CsvCell | undefined => cells[names.indexOf(name)];
  const textOf = (name: string): string => unguarded(cellOf(name)?.text ?? '').trim();
  const given = textOf('username').slice(0, limits.usernameCharactersMax);
  try {
    if (cells.length > names.length) {
      throw invalid(`the row has ${cells.length} cells, expected ${names.length}`);
    }
    const password = cellOf('password')?.text ?? '';
    if (password !== '') requireStrongPassword(password);
    const group = textOf('group');
    return {
      given,
      username: parseNewUsername(textOf('username')),
      profile: profileFromWire(profileIn(textOf)),
      ...(password !== '' && { password }),
      ...(group !== '' && { group }),
    };
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    return { given, refusal: reason };
  }
}

/** A name in one cell is the first name up to a space, and the last name behind it. */
function profileIn(textOf: (name: string) => string): Readonly<Record<string, string>> {
  const [first = '', ...others] = textOf('name').split(/\s+/);
  const fields = {
    firstName: textOf('firstName') || first,
    lastName: textOf('lastName') || others.join(' '),
    email: textOf('email'),
    phone: textOf('phone'),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ''));
}
