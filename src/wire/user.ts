import Type, { type TSchema } from 'typebox';
import { invalid } from '../domain/errors.ts';
import { parseNewUsername } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { NewAccount } from '../domain/users/accounts.ts';
import { isProven, provableAddresses } from '../domain/users/address-proofs.ts';
import type { Profile, User, UserChanges } from '../domain/users/user.ts';
import { isMailAddress } from '../lib/mail-address.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import {
  Flag,
  Message,
  optional,
  Plain,
  Prose,
  removedIn,
  Text,
  Whole,
  type Wire,
} from './fields.ts';
import { createReader } from './validation.ts';

/** A text or several, as clients send either. */
const Texts = (description: string, example: string) =>
  Type.Unsafe<readonly string[] | string>({
    type: ['array', 'string'],
    items: { type: 'string', maxLength: limits.nameCharactersMax },
    maxItems: limits.profileEntriesMax,
    maxLength: limits.nameCharactersMax,
    description,
    examples: [[example]],
  });

const TextList = (description: string, example: string) =>
  Type.Array(Type.String(), { description, examples: [[example]] });

const profileOf = <Schema extends TSchema>(
  listOf: (description: string, example: string) => Schema,
) =>
  optional({
    firstName: Text('First name.', 'Ama'),
    lastName: Text('Last name.', 'Mensah'),
    email: Text('E-mail address; also a login name.', 'ama@example.org'),
    phone: listOf('Telephone numbers with country code.', '+233201234567'),
    address: listOf('Postal addresses.', 'Accra, Ghana'),
    facebook: listOf('Facebook account ids.', 'ama.mensah'),
    twitter: listOf('Twitter account ids without the @ sign.', 'amamensah'),
    webhook: listOf(
      'Where the channel webhook posts messages to.',
      'https://farm.example.org/hook',
    ),
  });

const ProfileFields = profileOf(Texts);
const profileNames = Object.fromEntries(Object.keys(ProfileFields).map((name) => [name, name]));
export const ProfileMessage = Message('Profile', ProfileFields);

export const NewUserMessage = Message('NewUser', {
  username: Type.String({ maxLength: limits.usernameCharactersMax, examples: ['ama'] }),
  password: Plain(`${limits.passwordCharactersMin} characters or more.`),
  ...ProfileFields,
});

export const ImportedUsersMessage = Type.Array(
  Type.Object({
    username: Plain('As the list has it.'),
    ...optional({
      firstName: Type.String(),
      lastName: Type.String(),
      password: Plain('Where it was made up for the account; shown this once.'),
      error: Plain('Why no account was made: the kind.'),
      description: Prose('What to change.'),
      code: Plain('More exact than the kind.'),
      params: Type.Record(
        Type.String(),
        Type.Unsafe<string | number>({ type: ['string', 'number'] }),
      ),
    }),
  }),
  { title: 'ImportedUsers' },
);

export const UserChangesMessage = Message('UserChanges', {
  ...ProfileFields,
  admin: Type.Optional(Flag('For admins to set.')),
  disabled: Type.Optional(Flag('For admins to set.')),
});

export const UserMessage = Message('User', {
  id: Type.String(),
  createdTime: Whole('Milliseconds since the epoch.'),
  username: Type.String(),
  ...profileOf(TextList),
  ...optional({
    admin: Type.Boolean(),
    disabled: Type.Boolean(),
    password_is_initial: Flag('true until the password that somebody else chose is changed.'),
    sms_credit: Whole('Absent: without limit.'),
    last_login: Type.String({
      format: 'date-time',
      description:
        'When the password was last given, over HTTP or MQTT, or a browser that stays logged ' +
        'in was used; kept once a day. Access keys do not count. Absent: never. For admins.',
    }),
    devices: Whole('How many devices this user owns; for administrators.'),
    proven: Type.Object(
      {
        email: Type.Optional(Type.Array(Type.String())),
        phone: Type.Optional(Type.Array(Type.String())),
      },
      { description: 'Which e-mail address and phone numbers of the profile are proven.' },
    ),
    storage: Type.Object(
      {
        used: Whole('Bytes, as quotas count them.'),
        quota: Type.Optional(Whole('Absent: none.')),
      },
      { description: 'What your devices take on disk; of yourself only.' },
    ),
  }),
});

export const InitialPasswordMessage = Message('InitialPassword', {
  username: Type.String(),
  password: Plain('Shown this once.'),
});

const readProfileMessage = createReader(ProfileMessage, 'user');
const readNewUser = createReader(NewUserMessage, 'user');
const readUserChanges = createReader(UserChangesMessage, 'user');

/** A profile from any object that holds its fields in camelCase or snake_case. */
export function profileFromWire(message: unknown): Profile {
  const { firstName, lastName, email, ...lists } = readProfileMessage(camelCased(message));
  const phone = listOf(lists.phone)?.map(phoneFrom);
  const webhook = listOf(lists.webhook);
  if (email !== undefined && email !== '') requireEmail(email);
  for (const url of webhook ?? []) requireWebhook(url);
  const address = listOf(lists.address);
  const [facebook, twitter] = [listOf(lists.facebook), listOf(lists.twitter)];
  return defined({ firstName, lastName, email, phone, address, facebook, twitter, webhook });
}

const listOf = (texts: readonly string[] | string | undefined): readonly string[] | undefined =>
  typeof texts === 'string' ? [texts] : texts;

/** A number with its country code, without what people put between the digits. */
function phoneFrom(text: string): string {
  // The 0 of `+44 (0)20` is dialled without the country code alone; none begins with 0.
  const plain = text.replaceAll(/\(0\)|[\s().-]/g, '').replace(/^00/, '+');
  if (/^\+[1-9]\d{7,14}$/.test(plain)) return plain;
  throw invalid(
    `phone must be a number with its country code, + or 00 and 8 to 15 digits, such as ` +
      `+233 20 123 4567, got ${JSON.stringify(text.slice(0, 40))}`,
  );
}

export function newAccountFromWire(message: unknown): NewAccount {
  const { username, password } = readNewUser(camelCased(message));
  return { username: parseNewUsername(username), password, profile: profileFromWire(message) };
}

/** Changes to a user; a profile field that is null is removed. */
export function userChangesFromWire(message: unknown): UserChanges {
  const given = camelCased(message);
  const { admin, disabled } = readUserChanges(given);
  return defined({
    profile: { ...removedIn(given, profileNames), ...profileFromWire(message) },
    isAdmin: admin,
    isDisabled: disabled,
  });
}

function camelCased(message: unknown): unknown {
  if (!isRecord(message)) throw invalid('user must be a JSON object');
  const { first_name, last_name, ...others } = message;
  return {
    ...others,
    ...(others['firstName'] === undefined && { firstName: first_name }),
    ...(others['lastName'] === undefined && { lastName: last_name }),
  };
}

function requireEmail(email: string): void {
  if (isMailAddress(email)) return;
  throw invalid('email must be an address such as ama@example.org');
}

/** Requires a web URL; its host is judged when it is used: a name may lead elsewhere by then. */
function requireWebhook(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return;
  throw invalid('webhook must be a URL such as https://farm.example.org/hook');
}

/** The proven addresses of the profile by channel; nothing where there are none. */
function provenToWire(user: User): Pick<Wire<typeof UserMessage>, 'proven'> {
  const proven = provableAddresses(user.profile).filter(({ channel, address }) =>
    isProven(user, channel, address),
  );
  if (proven.length === 0) return {};
  const byChannel = Map.groupBy(proven, ({ channel }) => channel);
  const addressesOf = (channel: 'email' | 'phone') =>
    byChannel.get(channel)?.map(({ address }) => address);
  return { proven: defined({ email: addressesOf('email'), phone: addressesOf('phone') }) };
}

/** A user as the API shows it; contact details only to those who may see them [contract 4]. */
export function userToWire(user: User, maySeeContact: boolean): Wire<typeof UserMessage> {
  const { firstName, lastName, email, phone, address, facebook, twitter, webhook } = user.profile;
  return defined({
    id: user.id,
    createdTime: user.createdAt,
    username: user.username,
    firstName,
    lastName,
    facebook,
    twitter,
    ...(maySeeContact && {
      email,
      phone,
      address,
      webhook,
      ...(user.isAdmin && { admin: true }),
      ...(user.isDisabled && { disabled: true }),
      ...(user.isPasswordInitial === true && { password_is_initial: true }),
      sms_credit: user.smsCredit,
      ...provenToWire(user),
    }),
  });
}

/** Use of an account, as administrators see it. */
export function useToWire(
  { lastLoginAt }: User,
  devices: number,
): Pick<Wire<typeof UserMessage>, 'last_login' | 'devices'> {
  return defined({
    last_login: ifDefined(lastLoginAt, (lastLoginAt) => new Date(lastLoginAt).toISOString()),
    devices,
  });
}
