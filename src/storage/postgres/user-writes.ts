import type { AccessKeyId, DeviceId, GatewayId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { emailStrength, proofsAfter } from '../../domain/users/address-proofs.ts';
import type { RemovedThings } from '../../domain/users/user-store.ts';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { insertRow, type SqlSession } from '../sql/session.ts';
import {
  emailKeyOf,
  keepLastLogin,
  parseProfile,
  parseProofs,
  type UserRow,
  userColumns,
} from '../sql/user-row.ts';

/** Changes to an account; an absent field stays, a credit of null is without limit. */
export interface UserUpdate {
  readonly profile: Patch;
  /** New proofs, as JSON text. */
  readonly proofs: string;
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly smsCredit?: number | null;
}

type StoredUser = Pick<UserRow, 'is_admin' | 'is_disabled' | 'sms_credit' | 'profile' | 'proofs'>;

const selectUser = `
  select is_admin, is_disabled, sms_credit, profile, proofs from users where id = $1`;
const changeUser = `
  update users set email_key = $1, is_admin = $2, is_disabled = $3, sms_credit = $4, profile = $5,
    proofs = $6, email_proof = $7
  where id = $8`;
const updatePassword = `
  update users set password_hash = $1, is_password_initial = $2 where id = $3`;
const deleteTokens = 'delete from tokens where user_id = $1';
const deleteKeys = 'delete from access_keys where user_id = $1';
const deleteSessions = 'delete from login_sessions where user_id = $1';
const deleteOtherSessions = `
  delete from login_sessions where user_id = $1 and id is distinct from $2`;
const deleteOldKeys = `
  delete from access_keys where user_id = $1 and created_at < $2 returning id`;
const insertNetwork = `
  insert into login_networks (user_id, network, last_at)
  select id, $1, $2 from users where id = $3
  on conflict (user_id, network) do update set last_at = excluded.last_at`;
const deleteOldNetworks = `
  delete from login_networks where user_id = $1 and network in
    (select network from login_networks where user_id = $1 order by last_at desc offset $2)`;
const selectUsername = 'select username from users where id = $1';
const deleteUser = 'delete from users where id = $1';
const deleteGrantsReceived = 'delete from grants where nocase(username) = nocase($1)';
const deleteMemberships = 'delete from group_members where nocase(username) = nocase($1)';
const deleteGrantsGiven = ['grants', 'group_grants'].map(
  (table) => `
  delete from ${table} where (kind, resource) in
    (select kind, resource from owned_resources where nocase(owner) = nocase($1))`,
);
const selectDevicesOwned =
  'select id from devices where nocase(owner) = nocase($1) order by position';
const selectGatewaysOwned =
  'select id from gateways where nocase(owner) = nocase($1) order by position';
const deleteHot = `
  delete from hot using sensors, devices
  where sensors.bucket = hot.bucket and sensors.series = hot.series
    and devices.id = device_id and nocase(owner) = nocase($1)`;
const deleteOwned = ['devices', 'gateways', 'projects', 'user_groups', 'notifications'].map(
  (table) => `delete from ${table} where nocase(owner) = nocase($1)`,
);
const deleteSocials = `
  delete from socials where nocase(sender) = nocase($1) or nocase(recipient) = nocase($1)`;

export async function insertUser(
  session: SqlSession,
  row: UserRow,
): Promise<'inserted' | 'duplicate'> {
  const email_proof = emailStrength(parseProfile(row.profile), parseProofs(row.proofs));
  const email = { email_key: emailKeyOf(row.profile), email_proof };
  const columns = `${userColumns}, email_key, email_proof`;
  const values = { ...row, ...email };
  const made = await insertRow(session, 'users', columns, values, 'on conflict do nothing');
  return made === 0 ? 'duplicate' : 'inserted';
}

export async function updateUser(
  session: SqlSession,
  id: string,
  changes: UserUpdate,
): Promise<'updated' | 'missing'> {
  const stored = await session.first<StoredUser>(selectUser, id);
  if (stored === undefined) return 'missing';
  const profile = applyPatch(stored.profile, changes.profile);
  const newProofs = parseProofs(changes.proofs);
  const proofs = proofsAfter(parseProfile(profile), parseProofs(stored.proofs), newProofs);
  await session.run(
    changeUser,
    emailKeyOf(profile),
    Number(changes.isAdmin ?? stored.is_admin),
    Number(changes.isDisabled ?? stored.is_disabled),
    changes.smsCredit === undefined ? stored.sms_credit : changes.smsCredit,
    profile,
    JSON.stringify(proofs),
    emailStrength(parseProfile(profile), proofs),
    id,
  );
  if (changes.isDisabled === true) {
    for (const end of [deleteTokens, deleteSessions, deleteKeys]) await session.run(end, id);
  }
  return 'updated';
}

export async function rememberNetwork(
  session: SqlSession,
  id: string,
  network: string,
  at: number,
): Promise<void> {
  await session.run(insertNetwork, network, at, id);
  await session.run(deleteOldNetworks, id, limits.knownNetworksPerUserMax);
  await session.run(keepLastLogin, id, at, at);
}

export async function setPassword(
  session: SqlSession,
  id: string,
  passwordHash: string,
  ends: { readonly keysMadeBefore: number | null; readonly exceptSession: string | null },
  isInitial: boolean,
): Promise<{ readonly endedKeys: readonly AccessKeyId[] } | 'missing'> {
  const changed = await session.run(updatePassword, passwordHash, Number(isInitial), id);
  if (changed === 0) return 'missing';
  await session.run(deleteTokens, id);
  await session.run(deleteOtherSessions, id, ends.exceptSession);
  if (ends.keysMadeBefore === null) return { endedKeys: [] };
  const ended = await session.all<{ id: AccessKeyId }>(deleteOldKeys, id, ends.keysMadeBefore);
  return { endedKeys: ended.map((key) => key.id) };
}

export async function removeUser(
  session: SqlSession,
  id: string,
): Promise<RemovedThings | 'missing'> {
  const name = (await session.first<{ username: string }>(selectUsername, id))?.username;
  if (name === undefined) return 'missing';
  const devices = await session.all<{ id: DeviceId }>(selectDevicesOwned, name);
  const gateways = await session.all<{ id: GatewayId }>(selectGatewaysOwned, name);
  const grants = [deleteGrantsReceived, deleteMemberships, ...deleteGrantsGiven];
  for (const part of [...grants, deleteHot, ...deleteOwned, deleteSocials])
    await session.run(part, name);
  await session.run(deleteUser, id);
  return { devices: devices.map((row) => row.id), gateways: gateways.map((row) => row.id) };
}
