import type { ResourceKind } from '../../domain/access/scopes.ts';
import { type ReachedRow, type ReadReach, reachingSql } from '../sql/resources.ts';
import type { SqlReader } from '../sql/session.ts';

const selectReaching: Readonly<Record<ResourceKind, string>> = {
  device: reachingSql('device', '$1'),
  gateway: reachingSql('gateway', '$1'),
  project: reachingSql('project', '$1'),
};

/** Reads what reaches a user in one statement: the database does the work. */
export const createReachReading =
  (reader: SqlReader): ReadReach =>
  (kind, username) =>
    reader.all<ReachedRow>(selectReaching[kind], username);
