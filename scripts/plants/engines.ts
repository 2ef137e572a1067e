import { type Plant, patch } from './plant.ts';

/** Faults of the embedded engine, which tests at the endpoints have to notice. */
export const plantsOfEngines: readonly Plant[] = [
  {
    name: 'a removed sensor takes its datapoints along on the embedded engine',
    ...{ file: 'test/v2/sensors.test.ts', test: 'a deleted sensor takes its datapoints along' },
    says: /deepEqual|deepStrictEqual|deep-equal|!==/,
    patches: [
      patch(
        'src/storage/sql/devices.ts',
        "      if (outcome === 'removed') forget(id, sensorId);\n",
        '',
      ),
    ],
  },
  {
    name: 'an id that is taken is refused on the embedded engine',
    ...{ file: 'test/v2/devices.test.ts', test: 'a taken id is refused with 422' },
    says: /422/,
    patches: [
      patch(
        'src/storage/sql/device-writes.ts',
        "(insertDevice, bucketOf(id), ...columns)) === 0) return 'duplicate'",
        "(insertDevice, bucketOf(id), ...columns)) < 0) return 'duplicate'",
      ),
    ],
  },
  {
    name: 'the log is kept for messages of groups that no member has yet',
    ...{
      file: 'src/storage/postgres/feed-log.test.ts',
      test: 'an entry is kept while a message for a group',
      says: /claimed, 0/,
    },
    patches: [patch('src/storage/postgres/feed-log.ts', '        if (waits > 0) return;\n', '')],
  },
  {
    name: 'the log is kept until the process that wrote it has handed it on',
    ...{
      file: 'src/storage/postgres/feed-log.test.ts',
      test: 'an entry is kept until its own process has handed it on',
      says: /has not handed it on/,
    },
    patches: [
      patch(
        'src/storage/postgres/feed-log.ts',
        "where (state = 'serving'\n",
        "where member <> feed_log.writer and (state = 'serving'\n",
      ),
    ],
  },
  {
    name: 'a session that goes on before it has caught up keeps what it lacked',
    ...{
      file: 'src/storage/postgres/behind.test.ts',
      test: 'a session keeps what its process had not acknowledged',
      says: /dropped although it is in no queue/,
    },
    patches: [
      patch('src/storage/postgres/sessions.ts', 'when not behind then (', 'when true then ('),
    ],
  },
  {
    name: 'a commit in doubt is not made again, whatever the next connection fails with',
    ...{
      file: 'src/storage/postgres/writer.test.ts',
      test: 'is made once where',
      says: /strictly deep-equal/,
    },
    patches: [patch('src/storage/postgres/writer.ts', ' || own?.isLost === true;', ';')],
  },
  {
    name: 'a push that is stored is answered, whatever becomes of counting its bytes',
    ...{
      file: 'src/app/storage-count.test.ts',
      test: 'what is stored is answered while its owner',
      says: /the database is away/,
    },
    patches: [
      patch('src/app/storage-count.ts', 'function countBatch(', 'async function countBatch('),
      patch(
        'src/app/storage-count.ts',
        'void countLater();',
        'await storage.devices.find([...uncounted.keys()][0]!);',
      ),
      patch('src/app/storage-count.ts', '        countBatch(', '        await countBatch('),
    ],
  },
  {
    name: 'a batch of pushes waits for the callers of the one before',
    ...{
      file: 'src/lib/scheduling/group-commit.test.ts',
      test: 'a batch waits for callers',
      says: /commit bc/,
    },
    patches: [
      patch(
        'src/lib/scheduling/group-commit.ts',
        'const isGathered = (): boolean =>\n    ',
        'const isGathered = (): boolean =>\n    false && ',
      ),
    ],
  },
];
