import Type from 'typebox';
import { parseScope } from '../domain/access/scopes.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { AccessKeyRecord, SessionRecord } from '../domain/users/credential-store.ts';
import type { NewAccessKey } from '../domain/users/sessions.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readEnd } from './datapoint.ts';
import {
  DateText,
  distinct,
  EndText,
  Message,
  optional,
  Plain,
  Text,
  type Wire,
  Word,
} from './fields.ts';
import { scopesPerListMax } from './sharing.ts';
import { createReader } from './validation.ts';

const described = {
  name: Text('What the key is for.', 'gateway on the school roof'),
  ...optional({
    scopes: Type.Array(Word(), {
      maxItems: scopesPerListMax,
      description: 'What the key may do; absent: all its owner may.',
    }),
    devices: Type.Array(Type.String(), {
      maxItems: limits.accessKeyDevicesMax,
      description: 'The devices it is for; absent: all of its owner.',
    }),
    expires: EndText('When it ends; absent: never.'),
  }),
};

const NewAccessKeyMessage = Message('NewAccessKey', described);

export const AccessKeyMessage = Message('AccessKey', {
  id: Type.String(),
  ...described,
  date_created: DateText('Set by the service.'),
});

export const CreatedAccessKeyMessage = Message('CreatedAccessKey', {
  ...AccessKeyMessage.properties,
  key: Plain('The secret, shown this once.'),
});

/** Throws invalid for a name that shows nothing, or no text that every client can read. */
function readKeyName(name: string): string {
  if (name.trim() === '') throw invalid('name must say what the key is for');
  if (!name.isWellFormed()) throw invalid('name must be Unicode text, got half of a character');
  return name;
}

export const readAccessKey = createReader(
  NewAccessKeyMessage,
  'key',
  ({ name, scopes, devices, expires }): NewAccessKey =>
    defined({
      name: readKeyName(name),
      scopes: ifDefined(scopes, (scopes) => distinct(scopes.map((text) => parseScope(text)))),
      devices: ifDefined(devices, (devices) => distinct(devices.map(parseDeviceId))),
      expiresAt: ifDefined(expires, (expires) => readEnd(expires, 'expires')),
    }),
);

export function accessKeyToWire(key: AccessKeyRecord): Wire<typeof AccessKeyMessage> {
  return defined({
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    devices: key.devices,
    expires: ifDefined(key.expiresAt, formatTimestamp),
    date_created: formatTimestamp(key.createdAt),
  });
}

export const BrowserSessionMessage = Type.Object({
  id: Type.String(),
  name: Plain('What the browser calls itself.'),
  last_used: Type.String({ format: 'date-time' }),
  address: Plain('Where it was used last.'),
});

export function browserSessionToWire(session: SessionRecord): Wire<typeof BrowserSessionMessage> {
  const { id, name, lastUsedAt, address } = session;
  return { id, name, last_used: new Date(lastUsedAt).toISOString(), address };
}
