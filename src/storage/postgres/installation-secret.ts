import { randomBytes } from 'node:crypto';
import type { Writer } from './writer.ts';

const makeSecret = `
  insert into secrets (name, value) values ('installation', $1) on conflict do nothing`;
const selectSecret = `select value from secrets where name = 'installation'`;
const secretPattern = /^[0-9a-f]{64}$/;

/** The installation's own secret, made when it is asked for the first time. */
export const ensureInstallationSecret = (writer: Writer): Promise<string> =>
  writer.call(async (tx) => {
    await tx.run(makeSecret, randomBytes(32).toString('hex'));
    const secret = (await tx.first<{ value: string }>(selectSecret))?.value ?? '';
    if (secretPattern.test(secret)) return secret;
    throw new Error(
      'the secret of the installation in the table secrets is damaged: restore a backup, or ' +
        'delete its row to make a new one',
    );
  });
