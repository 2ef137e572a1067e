import { limit, type Plant, patch } from './plant.ts';

const rules = 'test/neighbours/alarms-rules.test.ts';
const silences = { file: rules, test: 'five accounts' };
const strangers = 'test/neighbours/alarms-strangers.test.ts';
const deliveries = 'test/neighbours/alarms-deliveries.test.ts';
const limits = 'test/v2/notification-limits.test.ts';
const firing = 'src/domain/notifications/firing.ts';
const rows = 'test/walks/damaged-rows.test.ts';

/** Notifications, what they wait for, and what they send. */
export const plantsOfAlarms: readonly Plant[] = [
  {
    name: 'a rule is for the very device that it named',
    ...{ file: 'test/v2/devices-made-again.test.ts', test: 'somebody else made again' },
    says: /2/,
    patches: [
      patch(
        'src/domain/notifications/firing.ts',
        '  if (isAnother(notification, device)) return false;\n',
        '',
      ),
    ],
  },
  {
    name: 'a value that a message names often is written once',
    ...{ file: 'src/domain/notifications/message.test.ts', test: 'a value that is named often' },
    says: /Expected values to be strictly deep-equal/,
    patches: [patch(firing, 'if (!this.#known.has(name)) this', 'this')],
  },
  {
    name: 'a rule makes no actuator larger than its owner may',
    ...{ file: 'test/v2/notifications.test.ts', test: 'a rule makes no actuator', says: /65536/ },
    patches: [patch(firing, 'tooLarge !== undefined', 'tooLarge === null')],
  },
  {
    name: 'a rule makes no device larger than its owner may',
    ...{ file: 'test/v2/notifications.test.ts', test: 'a rule makes no actuator' },
    says: /the sensors and actuators of device/,
    patches: [patch(firing, 'if (problem) return', 'if (false) return')],
  },
  {
    name: 'a rule for all own devices selects those alone',
    ...{ file: 'src/domain/notifications/rule-book.test.ts', test: 'for all own devices' },
    says: /0 !== 1/,
    patches: [
      patch(
        'src/domain/notifications/rule-book.ts',
        'yield some.devices.filter((device) => sameUsername(device.owner, owner));',
        'yield some.devices.filter((device) => sameUsername(device.owner, owner) || true);',
      ),
      patch(
        'src/domain/notifications/rule-book.ts',
        'const watched = owned.filter(',
        'const watched = owned.slice(0, left).filter(',
      ),
      patch(
        'src/domain/notifications/rule-book.ts',
        'left -= watched.length;',
        'left -= owned.length;',
      ),
    ],
  },
  {
    name: 'alarms read large last values one by one, and few of them',
    ...{ file: 'src/domain/notifications/sensor-values.test.ts', test: 'one by one' },
    says: /200/,
    patches: [
      patch(
        'src/domain/notifications/sensor-values.ts',
        'large > limits.otherLargeValuesMax;',
        'large > 9 * limits.otherLargeValuesMax;',
      ),
    ],
  },
  {
    name: 'pushes to a device are looked at beside those to others',
    ...{ file: strangers, test: 'long arrays', servedMs: 2_000 },
    says: /took|never came/,
    patches: [
      patch(
        'src/domain/notifications/notifier.ts',
        'inOrder(deviceId, evaluations.run)',
        "inOrder('any' as DeviceId, evaluations.run)",
      ),
    ],
  },
  {
    name: 'no push waits long for alerts of strangers, or is refused for them',
    ...{ file: strangers, test: 'a thousand rules', servedMs: 2_000 },
    says: /429|took|waited/,
    patches: [
      patch(
        'src/domain/notifications/push-evaluations.ts',
        'if (sameUsername(owner, device.owner)) return fireOwn(evaluation);',
        'if (owner !== undefined) return fireOwn(evaluation);',
      ),
    ],
  },
  {
    name: 'a text of a client is no key of a plain object',
    ...{ file: rules, test: 'a sensor named constructor', says: /./ },
    patches: [
      patch(
        'src/lib/own-entry.ts',
        'record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined',
        'record?.[key]',
      ),
    ],
  },
  {
    name: 'a row that cannot be understood is set aside',
    ...{ file: rows, test: 'no stored row stops a start', says: /./ },
    patches: [
      patch(
        'src/storage/faults.ts',
        '        note(table, key, reason);\n        return undefined;\n',
        '        throw reason;\n',
      ),
    ],
  },
  {
    name: 'a notification that cannot be understood is set aside',
    ...{ file: rows, test: 'no stored row stops a start', says: /./ },
    patches: [
      patch(
        'src/domain/notifications/rule-book.ts',
        '          remove(id);\n          options',
        '          if (error) throw error;\n          options',
      ),
    ],
  },
  {
    name: 'devices times sensors of a notification have an end',
    ...{ file: rules, test: 'a thousand devices', says: /too many pairs were taken/ },
    patches: [limit('conditionPairsMax: 10_000', 'conditionPairsMax: 10_000_000')],
  },
  {
    name: 'what notifications take up has a budget',
    ...{ file: rules, test: 'a thousand devices', budget: 'notification_bytes' },
    says: /all had room/,
  },
  {
    name: 'previews side by side have a budget',
    ...{ file: rules, test: 'previews side by side', budget: 'previews', says: /none was refused/ },
  },
  {
    name: 'silences have a budget',
    ...{ ...silences, budget: 'silences', says: /all had room/ },
  },
  {
    name: 'an account has a reserve although strangers filled a budget',
    ...{ ...silences, says: /her rule was refused/ },
    patches: [
      patch('src/domain/budgets/budget.ts', '(isGuest || after > rule.floor)', 'after > 0'),
    ],
  },
  {
    name: 'silences are reported in slices by recipient',
    ...{ ...silences, says: /her silence was/ },
    patches: [limit('silencesPerLook: 64', 'silencesPerLook: 1_000_000')],
  },
  {
    name: 'a rule whose silence would not be watched is refused',
    ...{ file: limits, test: 'a rule whose silence', says: /200 !== 403/ },
    patches: [
      patch(
        'src/domain/notifications/notifications.ts',
        'if (refusal !== undefined) throw budgetError(silences, refusal);',
        'if (refusal === null) throw budgetError(silences, refusal);',
      ),
    ],
  },
  {
    name: 'deliveries of one payer are few at a time',
    ...{ file: 'src/domain/notifications/dispatcher.test.ts', test: 'begins nothing, and waits' },
    says: /!== 16/,
    patches: [
      patch(
        'src/domain/notifications/dispatcher.ts',
        'const perPayerMax = limits.deliveriesUnderWayPerPayerMax;',
        'const perPayerMax = 4_096;',
      ),
    ],
  },
  {
    name: 'deliveries to one host are few at a time',
    ...{ file: deliveries, test: 'nine accounts', says: /alarm|connections at a time/ },
    patches: [limit('deliveriesUnderWayPerHostMax: 16', 'deliveriesUnderWayPerHostMax: 4_096')],
  },
];
