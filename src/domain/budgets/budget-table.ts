import type { BudgetRule } from './budget.ts';

const mebibyte = 1_048_576;

/** How a budget answers, and its amounts: the total, and how much each may use (`BudgetRule`). */
const amountsOf =
  (unit: BudgetRule['unit']) =>
  (answer: BudgetRule['answer'], ...amounts: readonly [number, number, number, number, number]) => {
    const [total, perAccount, perAddress, guests, floor] = amounts;
    return { unit, answer, total, perAccount, perAddress, guests, floor };
  };
const bytes = amountsOf('bytes');
const entries = amountsOf('entries');

/**
 * Every budget of the service. `docs/limits.md` is generated from it, `/metrics` and `kipimo usage`
 * show what is used of it, and KIPIMO_BUDGETS changes its totals. Amounts: in all, of an
 * account, of an address, of all guests, and the floor.
 */
export const budgetTable = {
  connections: {
    what: 'connections over HTTP and MQTT',
    ...entries('rate', 200_000, 100_000, 50_000, 100_000, 0),
    refused:
      'the connection is closed; where all guests have no more, the guest that is silent for ' +
      'longest is closed instead',
  },
  tls_handshakes: {
    what: 'TLS handshakes under way',
    ...entries('rate', 4_000, 2_000, 1_000, 2_000, 0),
    refused: 'the connection is closed, or the one that is silent for longest',
  },
  partial_bytes: {
    what: 'unfinished bodies and packets, and long CONNECTs until their clients are let in',
    ...bytes('rate', 256 * mebibyte, 64 * mebibyte, 64 * mebibyte, 128 * mebibyte, 4_096),
    refused:
      '429 and Retry-After; over MQTT the connection is closed with 0x97, a CONNECT answered 0x9f',
  },
  request_bytes: {
    what:
      'heads that are not whole, each with 12 KiB for its connection; requests whose bodies are ' +
      'not, each with 24 KiB and twice its head; and requests that wait',
    ...bytes('rate', 128 * mebibyte, 32 * mebibyte, 16 * mebibyte, 48 * mebibyte, mebibyte),
    refused:
      'who waits for longest at that address, of all guests, or of the account that uses most, ' +
      'is closed: a request that is not whole with 429 and Retry-After',
  },
  answer_bytes: {
    what: 'answers that are not read yet',
    ...bytes('rate', 128 * mebibyte, 32 * mebibyte, 16 * mebibyte, 48 * mebibyte, mebibyte),
    refused: '429 and Retry-After; a connection that asks on without reading is closed',
  },
  notification_bytes: {
    what: 'notifications, with the devices and sensors that they name',
    ...bytes('count', 128 * mebibyte, 32 * mebibyte, 0, 0, 262_144),
    refused: '403',
  },
  silences: {
    what: 'silences that are waited for',
    ...entries('count', 100_000, 20_000, 0, 0, 500),
    refused: '403; what a rule would not watch, it is not made for',
  },
  firings_of_others: {
    what: 'alerts of rules on devices of others, until they are stored',
    ...bytes('rate', 8 * mebibyte, mebibyte, 0, 0, 65_536),
    refused: 'the alert is not sent, and "why" of its notification tells; no push is refused',
  },
  previews: {
    what: 'previews of notifications under way',
    ...entries('rate', 4, 1, 0, 0, 0),
    refused: '429 and Retry-After',
  },
  mqtt_sessions: {
    what: 'MQTT sessions',
    ...entries('count', 200_000, 100_000, 5_000, 20_000, 100),
    refused: 'CONNACK 0x97, before MQTT 5 return code 3; guests without a connection make room',
  },
  mqtt_session_bytes: {
    what: 'MQTT sessions, their subscriptions, and ids of QoS 2 that are not released',
    ...bytes('count', 192 * mebibyte, 96 * mebibyte, 16 * mebibyte, 64 * mebibyte, 65_536),
    refused: 'CONNACK or SUBACK 0x97, before MQTT 5 code 3 and 0x80; the oldest id is forgotten',
  },
  mqtt_will_bytes: {
    what: 'last wills of MQTT',
    ...bytes('count', 128 * mebibyte, 32 * mebibyte, 16 * mebibyte, 32 * mebibyte, 4_096),
    refused: 'CONNACK 0x97, before MQTT 5 return code 3',
  },
  mqtt_queued_bytes: {
    what: 'messages that wait for MQTT sessions; three quarters for those without a connection',
    ...bytes('count', 256 * mebibyte, 64 * mebibyte, 32 * mebibyte, 96 * mebibyte, mebibyte),
    refused: 'the message is dropped for that session and counted; its publisher is not refused',
  },
  timed_settings: {
    what: 'actuators that are to be set back',
    ...entries('count', 100_000, 10_000, 1_000, 20_000, 20),
    refused: '403; an actuator can still be set to stay',
  },
  mqtt_retained: {
    what: 'retained MQTT messages',
    ...entries('count', 200_000, 100_000, 10_000, 40_000, 100),
    refused: 'the message is handed on and not kept; MQTT 5 tells 0x97',
  },
  mqtt_retained_bytes: {
    what: 'retained MQTT messages',
    ...bytes('count', 256 * mebibyte, 64 * mebibyte, 16 * mebibyte, 64 * mebibyte, 65_536),
    refused: 'the message is handed on and not kept; MQTT 5 tells 0x97',
  },
  mqtt_publish_bytes: {
    what: 'unanswered MQTT publishes, 4 KiB each beside payloads, beyond 16 KiB of a connection',
    ...bytes('rate', 192 * mebibyte, 64 * mebibyte, 32 * mebibyte, 64 * mebibyte, 65_536),
    refused:
      'the connection is not read from until half of its publishes are answered; a payload of ' +
      'more than 4 KiB: 0x97, before MQTT 5 no acknowledgement, and the connection is closed',
  },
  mqtt_store_changes: {
    what: 'changes of MQTT sessions that are not on disk yet, in rows',
    ...entries('rate', 40_000, 10_000, 5_000, 10_000, 1_000),
    refused: 'the connection is not read from until they are; what would be queued is dropped',
  },
  long_reads: {
    what: 'searches and summaries at once',
    ...entries('rate', 128, 16, 8, 64, 4),
    refused: '429 and Retry-After',
  },
} as const satisfies Readonly<Record<string, BudgetRule>>;

export type BudgetName = keyof typeof budgetTable;
