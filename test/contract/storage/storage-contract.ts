import { describe } from 'node:test';
import { correctionsContract } from './corrections.contract.ts';
import { credentialsContract } from './credentials.contract.ts';
import { datapointsContract } from './datapoints.contract.ts';
import { deviceListsContract } from './device-lists.contract.ts';
import { devicesContract } from './devices.contract.ts';
import { gatewaysContract } from './gateways.contract.ts';
import { grantsContract } from './grants.contract.ts';
import { groupsContract } from './groups.contract.ts';
import { invitationsContract } from './invitations.contract.ts';
import { mqttSessionsContract } from './mqtt-sessions.contract.ts';
import { mqttWillsContract } from './mqtt-wills.contract.ts';
import { notificationsContract } from './notifications.contract.ts';
import { projectsContract } from './projects.contract.ts';
import type { OpenEmptyStorage } from './promises.ts';
import { reachingGrantsContract } from './reaching-grants.contract.ts';
import { retainingContract } from './retaining.contract.ts';
import { retentionsContract } from './retentions.contract.ts';
import { shortLivedContract } from './short-lived.contract.ts';
import { socialsContract } from './socials.contract.ts';
import { usersContract } from './users.contract.ts';

/** Tests everything that the service expects of an engine. */
export function storageContract(openEmptyStorage: OpenEmptyStorage): void {
  describe('users', () => usersContract(openEmptyStorage));
  describe('credentials', () => credentialsContract(openEmptyStorage));
  describe('grants', () => grantsContract(openEmptyStorage));
  describe('groups', () => groupsContract(openEmptyStorage));
  describe('invitations', () => invitationsContract(openEmptyStorage));
  describe('what grants reach', () => reachingGrantsContract(openEmptyStorage));
  describe('devices', () => devicesContract(openEmptyStorage));
  describe('lists of devices', () => deviceListsContract(openEmptyStorage));
  describe('gateways', () => gatewaysContract(openEmptyStorage));
  describe('projects', () => projectsContract(openEmptyStorage));
  describe('social messages', () => socialsContract(openEmptyStorage));
  describe('notifications', () => notificationsContract(openEmptyStorage));
  describe('what is short-lived', () => shortLivedContract(openEmptyStorage));
  describe('MQTT sessions', () => mqttSessionsContract(openEmptyStorage));
  describe('last wills of MQTT', () => mqttWillsContract(openEmptyStorage));
  describe('datapoints', () => datapointsContract(openEmptyStorage));
  describe('corrections', () => correctionsContract(openEmptyStorage));
  retentionContract(openEmptyStorage);
}

/** The part about retention, which is tried with small chunks as well. */
export function retentionContract(openEmptyStorage: OpenEmptyStorage): void {
  describe('retentions', () => retentionsContract(openEmptyStorage));
  describe('what retention takes', () => retainingContract(openEmptyStorage));
}
