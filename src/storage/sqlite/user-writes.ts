import type { DatabaseSync } from 'node:sqlite';
import type { AccessKeyId, DeviceId, GatewayId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { emailStrength, proofsAfter } from '../../domain/users/address-proofs.ts';
import type { RemovedThings } from '../../domain/users/user-store.ts';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { forSqlite } from '../sql/session.ts';
import {
  emailKeyOf,
  keepLastLogin,
  parseProfile,
  parseProofs,
  type UserRow,
  userColumns,
} from '../sql/user-row.ts';
import { createSelection, insertInto } from './selection.ts';

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

const insertUser = `
  ${insertInto('users', `${userColumns}, email_key, email_proof`)} on conflict do nothing`;
const selectUser = `
  select is_admin, is_disabled, sms_credit, profile, proofs from users where id = ?`;
const updateUser = `
  update users set email_key = ?, is_admin = ?, is_disabled = ?, sms_credit = ?, profile = ?,
    proofs = ?, email_proof = ?
  where id = ?`;
const updatePassword = 'update users set password_hash = ?, is_password_initial = ? where id = ?';
const deleteTokens = 'delete from tokens where user_id = ?';
const deleteKeys = 'delete from access_keys where user_id = ?';
const deleteSessions = 'delete from login_sessions where user_id = ?';
const deleteOtherSessions = 'delete from login_sessions where user_id = ? and id is not ?';
const deleteOldKeys = `
  delete from access_keys where user_id = ? and created_at < ? returning id`;
const insertNetwork = `
  insert into login_networks (user_id, network, last_at)
  select id, ?, ? from users where id = ?
  on conflict (user_id, network) do update set last_at = excluded.last_at`;
const deleteOldNetworks = `
  delete from login_networks where user_id = ? and network in
    (select network from login_networks where user_id = ? order by last_at desc
     limit -1 offset ?)`;
const selectUsername = 'select username from users where id = ?';
const deleteUser = 'delete from users where id = ?';
const deleteGrantsReceived = 'delete from grants where username = ?';
const deleteGrantsGiven = `
  delete from grants where (kind, resource) in
    (select kind, resource from owned_resources where owner = ?)`;
const selectDevicesOwned = 'select id from devices where owner = ? order by position';
const selectGatewaysOwned = 'select id from gateways where owner = ? order by position';
const deleteDevicesOwned = 'delete from devices where owner = ?';
const deleteGatewaysOwned = 'delete from gateways where owner = ?';
const deleteProjectsOwned = 'delete from projects where owner = ?';
const deleteSocials = 'delete from socials where sender = ? or recipient = ?';

/** The changes that the writer thread makes to accounts. */
export function createUserWrites(database: DatabaseSync) {
  const user = createSelection<StoredUser>(database, selectUser);
  const username = createSelection<{ username: string }>(database, selectUsername);
  const devicesOwned = createSelection<{ id: DeviceId }>(database, selectDevicesOwned);
  const gatewaysOwned = createSelection<{ id: GatewayId }>(database, selectGatewaysOwned);
  const insert = database.prepare(insertUser);
  const update = database.prepare(updateUser);
  const password = database.prepare(updatePassword);
  const endTokens = database.prepare(deleteTokens);
  const endCredentials = [deleteTokens, deleteSessions, deleteKeys].map((sql) =>
    database.prepare(sql),
  );
  const endOtherSessions = database.prepare(deleteOtherSessions);
  const endOldKeys = createSelection<{ id: string }>(database, deleteOldKeys);
  const addNetwork = database.prepare(insertNetwork);
  const login = database.prepare(forSqlite(keepLastLogin));
  const removeOldNetworks = database.prepare(deleteOldNetworks);
  const remove = database.prepare(deleteUser);
  const removeGrantsReceived = database.prepare(deleteGrantsReceived);
  const removeGrantsGiven = database.prepare(deleteGrantsGiven);
  const removeSocials = database.prepare(deleteSocials);
  const removeOwned = [deleteDevicesOwned, deleteGatewaysOwned, deleteProjectsOwned].map((sql) =>
    database.prepare(sql),
  );

  return {
    insertUser(row: UserRow): 'inserted' | 'duplicate' {
      const proof = emailStrength(parseProfile(row.profile), parseProofs(row.proofs));
      const email = { email_key: emailKeyOf(row.profile), email_proof: proof };
      const { changes } = insert.run({ ...row, ...email });
      return changes === 0 ? 'duplicate' : 'inserted';
    },
    updateUser(id: string, changes: UserUpdate): 'updated' | 'missing' {
      const stored = user.first(id);
      if (stored === undefined) return 'missing';
      const profile = applyPatch(stored.profile, changes.profile);
      const newProofs = parseProofs(changes.proofs);
      const proofs = proofsAfter(parseProfile(profile), parseProofs(stored.proofs), newProofs);
      update.run(
        emailKeyOf(profile),
        Number(changes.isAdmin ?? stored.is_admin),
        Number(changes.isDisabled ?? stored.is_disabled),
        changes.smsCredit === undefined ? stored.sms_credit : changes.smsCredit,
        profile,
        JSON.stringify(proofs),
        emailStrength(parseProfile(profile), proofs),
        id,
      );
      if (changes.isDisabled === true) for (const end of endCredentials) end.run(id);
      return 'updated';
    },
    rememberNetwork(id: string, network: string, at: number): void {
      addNetwork.run(network, at, id);
      removeOldNetworks.run(id, id, limits.knownNetworksPerUserMax);
      login.run(id, at, at);
    },
    setPassword(
      id: string,
      passwordHash: string,
      ends: { readonly keysMadeBefore: number | null; readonly exceptSession: string | null },
      isInitial: boolean,
    ): { readonly endedKeys: readonly AccessKeyId[] } | 'missing' {
      if (password.run(passwordHash, Number(isInitial), id).changes === 0) return 'missing';
      endTokens.run(id);
      endOtherSessions.run(id, ends.exceptSession);
      const ended = ends.keysMadeBefore === null ? [] : endOldKeys.all(id, ends.keysMadeBefore);
      return { endedKeys: ended.map((key) => key.id as AccessKeyId) };
    },
    removeUser(id: string): RemovedThings | 'missing' {
      const name = username.first(id)?.username;
      if (name === undefined) return 'missing';
      const devices = devicesOwned.all(name).map((device) => device.id);
      const gateways = gatewaysOwned.all(name).map((gateway) => gateway.id);
      removeGrantsReceived.run(name);
      removeGrantsGiven.run(name);
      for (const removeKind of removeOwned) removeKind.run(name);
      removeSocials.run(name, name);
      remove.run(id);
      return { devices, gateways };
    },
  };
}
