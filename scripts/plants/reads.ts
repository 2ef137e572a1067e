import { limit, type Plant, patch } from './plant.ts';

const filters = { file: 'test/neighbours/reads-filters.test.ts', test: 'costly patterns' };
const quota = 'test/neighbours/reads-quota.test.ts';
const room = 'src/domain/budgets/storage-quotas.ts';
const died = /the program died|other side closed|socket hang up|ECONN|honest client's/;

/** Searches, lists, values, and room on the disk. */
export const plantsOfReads: readonly Plant[] = [
  {
    name: 'searches at once have a budget',
    ...{ ...filters, budget: 'long_reads', says: /nobody was refused/ },
  },
  {
    name: 'long work runs in slices',
    ...{ ...filters, says: /healthz waited|held for|honest client's/, servedMs: 2_000 },
    patches: [limit('turnMs: 5', 'turnMs: 5_000')],
  },
  {
    name: 'devices shared with somebody are found in slices, once for each list',
    ...{
      file: 'src/domain/access/policy.test.ts',
      test: 'which are searched once',
      says: /reached/,
    },
    patches: [
      patch(
        'src/domain/access/viewer.ts',
        "'everything' : { username: actor.username, reached };",
        "'everything' : { username: actor.username };",
      ),
    ],
  },
  {
    name: 'settings of retention keep it busy for a part of the time alone',
    ...{ file: 'src/domain/datapoints/retention/retention-runner.test.ts' },
    ...{ test: 'sets retentions all the time', says: /passes/ },
    patches: [
      patch(
        'src/domain/datapoints/retention/retention-runner.ts',
        'if (now < nextAt || now < restsUntil || running !== undefined) return;',
        'if (now < nextAt || running !== undefined) return;',
      ),
    ],
  },
  {
    name: 'changes that come at once run in slices',
    ...{ file: 'src/http/route.test.ts', test: 'changes that come at once' },
    says: /were handled in one slice/,
    patches: [
      patch(
        'src/http/route.ts',
        'const takesTurns = isRead || !(isPush || route.isLogin === true);',
        'const takesTurns = isRead || (isPush && route.isLogin === true);',
      ),
    ],
  },
  {
    name: 'corrections are loaded in slices',
    ...{ file: 'test/neighbours/reads-corrections.test.ts', test: 'as many corrected values' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/domain/datapoints/corrections/correction-book.ts',
        'const turns = createFairSlices({ turnMs: limits.turnMs });\n  const underWay',
        'const turns = createFairSlices({ turnMs: 60_000 });\n  const underWay',
      ),
      patch(
        'src/domain/datapoints/corrections/correction-book.ts',
        'const turns = createFairSlices({ turnMs: limits.turnMs });\n  const paceFor',
        'const turns = createFairSlices({ turnMs: 60_000 });\n  const paceFor',
      ),
    ],
  },
  {
    name: 'selected devices are searched in slices',
    ...{ file: 'test/neighbours/reads-totals.test.ts', test: 'totals of many large devices' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/domain/datapoints/sensor-selection.ts',
        '      if (pace.isOver()) await pace.rest();\n',
        '',
      ),
    ],
  },
  {
    name: 'totals are sorted in slices',
    ...{ file: 'src/domain/datapoints/totals.test.ts', test: 'put in order in turns' },
    says: /turns/,
    patches: [
      patch(
        'src/domain/datapoints/bucket-page.ts',
        '    if (at % bucketsPerLook === 0 && pace.isOver()) await pace.rest();\n' +
          '  }\n  return { buckets, total };',
        '  }\n  return { buckets, total };',
      ),
    ],
  },
  {
    name: 'last values of many sensors are written while they are read',
    ...{ file: 'test/neighbours/reads-last-values.test.ts', test: 'never all in memory' },
    // Gathered, they are more than one answer has room for.
    says: /undefined !== 600|MiB are held|the program died|other side closed|ECONN/,
    patches: [
      patch(
        'src/http/v2/merged-reads.ts',
        'const chunks = listText(steps, formatOf(false, spelling), true);',
        'const all = await Array.fromAsync(steps);\n' +
          '      const whole = (async function* () { yield all.flat(); })();\n' +
          '      const chunks = listText(whole, formatOf(false, spelling), true);',
      ),
    ],
  },
  {
    name: 'a value has a largest size',
    ...{ file: 'test/v2/value-size.test.ts', test: 'a value up to the limit', says: /413/ },
    patches: [
      patch(
        'src/domain/devices/device.ts',
        '!isJsonWithin(value, bytesMax) &&',
        '!isJsonWithin(value, 2 ** 30) &&',
      ),
    ],
  },
  {
    name: 'long values of old databases are handed on unread',
    ...{ file: 'test/v2/long-values.test.ts', test: 'is handed on unread' },
    says: /characters at once/,
    patches: [
      patch(
        'src/lib/long-json.ts',
        'text.length > readCharactersMax ? new LongJson(text) : parseJson(text)',
        'text.length > 2 ** 30 ? new LongJson(text) : parseJson(text)',
      ),
    ],
  },
  {
    name: 'lists are written as fast as they are read',
    ...{ file: 'test/neighbours/reads-large-values.test.ts', test: 'large last values' },
    says: died,
    patches: [
      patch(
        'src/http/answer-budget.ts',
        '  const source = chunks[Symbol.asyncIterator]();\n',
        '  const all = Array.fromAsync(chunks);\n' +
          '  const source = (async function* () { yield* await all; })();\n',
      ),
    ],
  },
  {
    name: 'what guests have on the disk has a quota',
    ...{ file: quota, test: 'guests who fill their quota', says: /204 !== 507/ },
    patches: [
      patch(room, 'if (all < guestsBytesMax && !isUsedUp) return;', 'if (!isUsedUp) return;'),
    ],
  },
  {
    name: 'one address has half of what guests may have on the disk',
    ...{ file: quota, test: 'guests who fill their quota', says: /bytes from one address/ },
    patches: [
      patch(
        room,
        'guestShares.isUsedUp(actor, { used: all, max: guestsBytesMax });',
        'guestShares.isUsedUp(actor, { used: all, max: 2 * guestsBytesMax });',
      ),
    ],
  },
  {
    name: 'what an account has on the disk has a quota',
    ...{ file: 'test/v2/storage-quotas.test.ts', test: 'an account sees what it uses' },
    says: /nothing was refused|507/,
    patches: [
      patch(
        room,
        'if (quota !== undefined && usedBy(owner) + further >= quota) {',
        'if (quota !== undefined && usedBy(owner) + further >= 2 ** 53) {',
      ),
    ],
  },
  {
    name: 'an account that signed itself up has a quota',
    ...{ file: 'test/v2/sign-up-quotas.test.ts', test: 'signed itself up', says: /200 kilobytes/ },
    patches: [patch(room, 'isSignUp(owner) ? signUp.each : account', 'account')],
  },
  {
    name: "strangers have a quarter of an owner's quota",
    ...{ file: 'test/neighbours/reads-strangers.test.ts', test: 'a quarter', says: /507/ },
    patches: [
      patch(
        'src/domain/budgets/storage-quotas.ts',
        'const partOfQuota = 4;',
        'const partOfQuota = 1;',
      ),
    ],
  },
  {
    name: 'what strangers pushed is known after a restart',
    ...{ file: 'test/neighbours/reads-strangers.test.ts', test: 'a quarter', says: /204/ },
    patches: [patch('src/app/storage-count.ts', '  await strangers.load();\n', '')],
  },
  {
    name: 'a disk that is nearly full is left to the service',
    ...{ file: quota, test: 'nearly full guests are refused', says: /507/ },
    patches: [
      patch(room, '(disk.freeBytes() ?? floor) < floor', '(disk.freeBytes() ?? floor) < 0'),
    ],
  },
  {
    name: 'nobody waits for a connection behind guests',
    ...{ file: 'src/storage/postgres/reader.test.ts', test: 'behind the reads of guests' },
    says: /was number/,
    patches: [
      patch(
        'src/storage/postgres/reader.ts',
        "if (!isPayer(payer)) return { lane: 'service', payer };",
        "if (payer === payer) return { lane: 'service', payer: '' };",
      ),
    ],
  },
];
