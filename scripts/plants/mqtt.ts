import type { Plant } from './plant.ts';

const memory = 'neighbours/mqtt-memory.test.ts';
const queues = 'neighbours/mqtt-queues.test.ts';

/** Sessions, wills, queues and groups of MQTT. */
export const plantsOfMqtt: readonly Plant[] = [
  {
    name: 'filters of kept sessions have a budget',
    ...{ file: memory, test: 'long filters', budget: 'mqtt_session_bytes', says: /./ },
  },
  {
    name: 'wills that wait have a budget',
    ...{ file: memory, test: 'wills that wait', budget: 'mqtt_will_bytes', says: /./ },
  },
  {
    name: 'a group is of one identity',
    ...{ file: queues, test: 'strangers in a group', says: /./ },
    patches: [
      {
        file: 'src/mqtt/broker/subscription-tree.ts',
        from: 'const { payer } = session;',
        to: "const payer = 'account/all';",
      },
    ],
  },
];
