import { limit, type Plant, patch } from './plant.ts';

const brokerMemory = 'src/mqtt/broker/memory.test.ts';
const memory = 'test/neighbours/mqtt-memory.test.ts';
const queues = 'test/neighbours/mqtt-queues.test.ts';
const floods = 'test/neighbours/mqtt-floods.test.ts';
const filters = 'test/neighbours/mqtt-filters.test.ts';
const limits = 'src/mqtt/limits.ts';
const guests = { file: queues, test: 'guests who fill sessions and retained' };
const died = /the program died|other side closed|ECONN|honest client's/;

/** Sessions, wills, queues and groups of MQTT. */
export const plantsOfMqtt: readonly Plant[] = [
  {
    name: 'publishes under way count by what they take in memory',
    ...{ file: 'src/mqtt/broker/publish-flow.test.ts', test: 'left in the socket' },
    says: /isPaused/,
    patches: [
      patch(
        'src/mqtt/broker/inbound.ts',
        'const publishBytesBeside = 4_096;',
        'const publishBytesBeside = 0;',
      ),
    ],
  },
  {
    name: 'work that is added during a slice keeps its place',
    ...{ file: 'src/lib/scheduling/fair-slices.test.ts', test: 'has a slice too', says: /4,/ },
    patches: [
      patch(
        'src/lib/scheduling/payer-queues.ts',
        'if (own.size > 0) this',
        'if (own.size > 1) this',
      ),
    ],
  },
  {
    name: 'who connects waits behind no packets of guests',
    ...{ file: 'src/mqtt/broker/packet-input.test.ts', test: 'who connects', says: /connack/ },
    patches: [patch('src/mqtt/broker/packet-input.ts', 'this.#isFirst);', 'false);')],
  },
  {
    name: 'what packets cause counts as the time of their client',
    ...{
      file: 'src/mqtt/broker/packet-input.test.ts',
      test: 'what packets cause',
      says: /one turn/,
    },
    patches: [patch('src/mqtt/broker/packet-input.ts', '      else this.#getOn();\n', '')],
  },
  {
    name: 'a flood of pushes leaves the event loop its turn between two batches',
    ...{
      file: 'src/lib/scheduling/group-commit.test.ts',
      test: 'come back at once',
      says: /one turn/,
    },
    patches: [
      patch('src/lib/scheduling/group-commit.ts', 'if (turn !== undefined) await turn;', ''),
    ],
  },
  {
    name: 'a commit has so many pushes',
    ...{ file: 'src/lib/scheduling/group-commit.test.ts', test: 'so many items', says: /AAAA/ },
    patches: [
      patch(
        'src/lib/scheduling/group-commit.ts',
        '/ (options.batchItemsMax ?? Number',
        '/ (Number',
      ),
    ],
  },
  {
    name: 'a topic that is too long is not kept for its alias',
    ...{ file: brokerMemory, test: 'aliases', says: /bytes are kept/ },
    patches: [patch('src/mqtt/packets/topic-names.ts', 'BytesMax ? longTopic', 'BytesMax ? name')],
  },
  {
    name: 'a CONNECT counts until its client is let in',
    ...{ file: brokerMemory, test: 'let in', says: /0 bytes/ },
    patches: [patch('src/mqtt/broker/login.ts', 'BytesFree = 4_096', 'BytesFree = 1e9')],
  },
  {
    name: 'ids of QoS 2 that are not released count with their session',
    ...{ file: brokerMemory, test: 'QoS 2', says: /640/ },
    patches: [patch('src/mqtt/broker/session-registry.ts', 'IdBytes = 64;', 'IdBytes = 0;')],
  },
  {
    name: 'filters of kept sessions have a budget',
    ...{ file: memory, test: 'long filters', budget: 'mqtt_session_bytes', says: died },
  },
  {
    name: 'a filter counts once in a SUBSCRIBE, and few of them are looked at',
    ...{ file: memory, test: 'one filter 60 000 times', says: /handled in|honest client's/ },
    servedMs: 1_000,
    patches: [
      limit('filtersPerPacketMax: 1_000', 'filtersPerPacketMax: 100_000', limits),
      patch(
        'src/mqtt/broker/client-connection.ts',
        'for (const subscription of lastOfEach.values()) {',
        'for (const subscription of subscriptions) {',
      ),
    ],
  },
  {
    name: 'a last will is on disk before its client is let in',
    ...{
      file: 'src/mqtt/broker/session-registry.test.ts',
      test: 'let in when its last will is on disk',
      says: /deep-equal/,
    },
    patches: [
      patch(
        'src/mqtt/broker/wills.ts',
        '    await Promise.race([journal.synced(), patient]);\n',
        '',
      ),
    ],
  },
  {
    name: 'wills that wait have a budget',
    ...{ file: memory, test: 'wills that wait', budget: 'mqtt_will_bytes' },
    says: /wills were refused|write EPIPE/,
  },
  {
    name: 'unfinished packets have a budget',
    ...{ file: memory, test: 'wills that wait', budget: 'partial_bytes' },
    says: /unfinished packets were refused/,
  },
  {
    name: 'messages that wait are shared out, and a client that is there is served',
    ...{ file: queues, test: 'sessions left behind', says: /honest client's|her message/ },
    patches: [
      patch(
        'src/domain/budgets/budgets.ts',
        'scaled(budgetTable[name], totals[name])',
        '{ ...scaled(budgetTable[name], totals[name]),\n' +
          "      ...(name === 'mqtt_queued_bytes' &&\n" +
          '        { perAccount: 2 ** 28, perAddress: 2 ** 28, guests: 2 ** 28, floor: 0 }) }',
      ),
      patch(
        'src/mqtt/broker/message-queue.ts',
        'const partOfAbsent = 0.75;',
        'const partOfAbsent = 1;',
      ),
      patch(
        'src/mqtt/broker/message-queue.ts',
        '(entries?.size ?? 0) === 0 &&',
        '(entries?.size ?? 0) < 0 &&',
      ),
    ],
  },
  {
    name: 'overlapping filters of a session are put together by its own filters',
    ...{ file: filters, test: '16,000 filters' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/mqtt/broker/subscription-tree.ts',
        'else if (!seen.has(target.session)) {',
        'else if (owns.find((own) => own.sessions.has(target.session))?.sessions === sessions) {',
      ),
    ],
  },
  {
    name: 'subscribers to messages of one payer are searched in slices',
    ...{ file: filters, test: '200 topics in one breath' },
    ...{ says: /healthz waited|honest client's/, servedMs: 2_000 },
    patches: [
      patch(
        'src/mqtt/broker/slices.ts',
        'const placesPerTurn = 10_000;',
        'const placesPerTurn = Infinity;',
      ),
    ],
  },
  {
    name: 'nobody waits for decisions about messages of others',
    ...{
      file: 'src/mqtt/broker/journal.test.ts',
      test: 'hold up nobody else',
      says: /others wait/,
    },
    patches: [
      patch(
        'src/mqtt/broker/journal.ts',
        'publisher === undefined ? undefined : held.get(publisher);',
        'held.size === 0 ? undefined : Promise.all(held.values());',
      ),
    ],
  },
  {
    name: 'rows of kept sessions are paid for one by one',
    ...{ file: 'src/mqtt/broker/journal.test.ts', test: 'pays for each row', says: /still room/ },
    patches: [patch('src/mqtt/broker/delivery.ts', '      journal.addRow(payer);\n', '')],
  },
  {
    name: 'the guests at one address have a quota',
    ...{ ...guests, says: /of one address were refused/ },
    patches: [
      patch('src/domain/budgets/budget.ts', 'isGuest ? rule.perAddress', 'isGuest ? rule.guests'),
    ],
  },
  {
    name: 'all guests together have a quota',
    ...{ ...guests, says: /of many addresses were refused/ },
    patches: [
      patch(
        'src/domain/budgets/budget.ts',
        'if (isGuest && this.#ofGuests + amount > part * rule.guests) {',
        'if (isGuest && this.#ofGuests + amount > part * rule.total) {',
      ),
    ],
  },
  {
    name: 'a group is of one identity',
    ...{ file: queues, test: 'strangers in a group', says: /values came to the worker/ },
    patches: [
      patch(
        'src/mqtt/broker/subscription-tree.ts',
        'const { payer } = session;',
        "const payer = 'account/all';",
      ),
    ],
  },
  {
    name: 'a message goes to many sessions in slices',
    ...{ file: 'src/mqtt/broker/router.test.ts', test: 'however many sessions one account has' },
    says: /deliveries at once/,
    patches: [limit('deliveriesAtOnceMax: 64', 'deliveriesAtOnceMax: 1_000_000', limits)],
  },
  {
    name: 'an id is kept in the commit that stores what came under it',
    ...{
      file: 'test/walks/mqtt-crash.test.ts',
      test: 'what MQTT acknowledged is stored',
      says: /twice: \[/,
    },
    patches: [
      patch(
        'src/storage/sqlite/timeseries/datapoints.ts',
        'const { received } = staging;',
        'const received = undefined;',
      ),
    ],
  },
  {
    name: 'another member of a group gets what one left that ended',
    ...{
      file: 'test/mqtt/field-reports.test.ts',
      test: 'what a member of a group left',
      says: /no publish came/,
    },
    patches: [
      patch(
        'src/mqtt/broker/message-queue.ts',
        'for (const handOn of handedOn) handOn();',
        'handedOn.length = 0;',
      ),
    ],
  },
  {
    name: 'another member of a group gets what one was being asked about that ended',
    ...{ file: 'src/mqtt/broker/outbound.test.ts', test: 'being asked about', says: /deep-equal/ },
    patches: [
      patch(
        'src/mqtt/broker/outbound.ts',
        'if (session.isEnded) handBack(delivery, terms);\n    else if (delivery.isExpired)',
        'if (session.isEnded) return;\n    if (delivery.isExpired)',
      ),
    ],
  },
  {
    name: 'packets of one payer are handled for some time, then those of others',
    ...{ file: floods, test: 'floods of tiny packets', says: /honest client's|held for|ECONN/ },
    patches: [
      patch('src/lib/event-loop.ts', 'turnMsMax = 8;', 'turnMsMax = 1e9;'),
      patch('src/lib/scheduling/fair-slices.ts', 'turnsPerEntry = 2;', 'turnsPerEntry = 1e9;'),
      patch('src/mqtt/broker/slices.ts', 'accountsUntilMs = 10;', 'accountsUntilMs = 1e9;'),
      patch('src/mqtt/broker/packet-input.ts', 'handledMs = 5;', 'handledMs = 1e9;'),
      patch('src/mqtt/broker/packet-input.ts', 'sliceMs = 2;', 'sliceMs = 1e9;'),
    ],
  },
  {
    name: 'long arrays over MQTT are read and handed on in slices',
    ...{ file: 'test/neighbours/mqtt-long-publishes.test.ts', test: 'long arrays that many' },
    says: /honest client's|on a new connection took/,
    patches: [
      patch('src/mqtt/payload.ts', 'length > limits.largePushBytesMin', 'length > 1e9'),
      limit('liveDatapointsAtOnceMax: 64', 'liveDatapointsAtOnceMax: 1e9', limits),
    ],
  },
  {
    name: 'nothing that a connection sends overtakes its long array',
    ...{ file: 'test/mqtt/sizes.test.ts', test: 'is published behind a long array' },
    says: /false|!==|deep-equal/,
    patches: [
      patch(
        'src/mqtt/broker/inbound.ts',
        'if (isReadInSlices(publish.message)) this.#pause.beginAt(underWay, 0);',
        '',
      ),
    ],
  },
  {
    name: 'guests have one quota of each slice, however many addresses they have',
    ...{ file: 'src/mqtt/broker/slices.test.ts', test: 'have a share of each turn together' },
    says: /falsy/,
    patches: [patch('src/mqtt/broker/slices.ts', '= 3 * placesPerTurn', '= 2 ** 40')],
  },
  {
    name: 'settings of actuators are stored a few at a time',
    ...{ file: 'src/domain/devices/actuators.test.ts', test: 'leave others their turn' },
    says: /AssertionError/,
    patches: [
      patch(
        'src/domain/devices/actuators.ts',
        'parallelMax: limits.settingsStoredAtOnce',
        'parallelMax: 1e6',
      ),
    ],
  },
  {
    name: 'settings of payers with much work are queued',
    ...{ file: 'src/mqtt/deliveries.test.ts', test: 'the newest are kept', says: /deep-equal/ },
    patches: [
      patch(
        'src/mqtt/deliveries.ts',
        'const isLate = payer !== undefined && broker.isBehind(payer) &&',
        'const isLate = payer === undefined && broker.hasAnySubscriber() &&',
      ),
    ],
  },
  {
    name: 'small amounts count for all guests together',
    ...{ file: 'src/mqtt/broker/slices.test.ts', test: 'thousands of connections' },
    says: /falsy/,
    patches: [
      patch(
        'src/mqtt/broker/slices.ts',
        '      spentOfAll[kindOf(payer)] += amount;\n      if (amount >= least) ',
        '      if (amount < least) return;\n      spentOfAll[kindOf(payer)] += amount;\n      ',
      ),
    ],
  },
  {
    name: 'bytes that are handed on count for their payer',
    ...{ file: 'src/mqtt/broker/slices.test.ts', test: 'counts by its bytes' },
    says: /falsy/,
    patches: [
      patch(
        'src/mqtt/broker/slices.ts',
        'const bytesPerPlace = 256;',
        'const bytesPerPlace = 1e9;',
      ),
    ],
  },
  {
    name: 'a long message goes to few at once',
    ...{ file: 'src/mqtt/broker/router.test.ts', test: 'the fewer get it at once' },
    says: /got it at once/,
    patches: [limit('deliveredBytesAtOnceMax: 1_048_576', 'deliveredBytesAtOnceMax: 1e12', limits)],
  },
  {
    name: 'pushes of payers with much work are queued',
    ...{ file: 'src/mqtt/deliveries.test.ts', test: 'wait for the turn of their payer' },
    says: /deep-equal/,
    patches: [
      patch(
        'src/mqtt/deliveries.ts',
        '    const isLate = isLater(event);',
        '    const isLate = isLong(event);',
      ),
    ],
  },
  {
    name: 'properties count for what is under way',
    ...{ file: 'src/mqtt/broker/publish-flow.test.ts', test: 'properties of what is under way' },
    says: /AssertionError/,
    patches: [
      patch(
        'src/mqtt/broker/inbound.ts',
        'payload.length + (properties?.length ?? 0));',
        'payload.length);',
      ),
    ],
  },
  {
    name: 'no account waits behind guests for its quota of a slice',
    ...{ file: 'src/mqtt/broker/slices.test.ts', test: 'use up the share of all guests' },
    says: /truthy|equal/,
    patches: [
      patch(
        'src/domain/budgets/budget.ts',
        "isGuestPayer(payer) ? 'guests' : 'accounts'",
        "'guests'",
      ),
    ],
  },
];
