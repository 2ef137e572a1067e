import { after, describe } from 'node:test';
import {
  emptySchema,
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { storageContract } from '../contract/storage-contract.ts';
import { openPostgres } from './postgres-storage.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const skip = isAbsent ? 'needs PostgreSQL' : false;

let server: Promise<PostgresServer> | undefined;
const started = (): Promise<PostgresServer> => {
  server ??= sharedPostgres();
  return server;
};
after(async () => (await server)?.close());

describe('the postgres engine', { skip }, () => {
  storageContract(async () => {
    const url = await schemaUrl((await started()).url, 'contract');
    const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
    if (rows[0].there) await emptySchema(url);
    return openPostgres({ url, log: silentLog });
  });
});
