import { type Plant, patch } from './plant.ts';

const suite = {
  file: 'test/cluster/cluster.test.ts',
  test: 'three processes lose nothing',
  // One seed, so that whom a fault meets is known to matter.
  environment: { NEMESIS_SEED: '7', NEMESIS_PROCESSES: '3' },
} as const;

/** What must be noticed under a nemesis, by nothing but what clients were answered. */
export const plantsUnderNemesis: readonly Plant[] = [
  {
    name: 'a value reaches the subscribers of other processes, under a nemesis',
    ...suite,
    says: /subscriber-\d never got/,
    patches: [
      patch('src/storage/postgres/timeseries/datapoints.ts', 'await tellInSteps(tx, notes);', ''),
    ],
  },
  {
    name: 'what a standby does not have is not acknowledged, under a nemesis',
    ...{ ...suite, says: /is lost, sent at/ },
    environment: { ...suite.environment, NEMESIS_FAULTS: 'commits wait for a standby' },
    patches: [
      patch(
        'src/storage/postgres/opening.ts',
        "select set_config('synchronous_commit', 'on', false)",
        "select set_config('synchronous_commit', 'off', false)",
      ),
      patch(
        'src/storage/postgres/opening.ts',
        "in ('off', 'local', 'remote_write')",
        "not in ('off')",
      ),
    ],
  },
  {
    name: 'what was found in the log is not queued twice, under a nemesis',
    ...suite,
    says: /subscriber-2 got \S+ \d times/,
    patches: [
      patch('src/mqtt/broker/session.ts', 'origin.at <= (heard', 'origin.at <= 0 * (heard'),
    ],
  },
  {
    name: 'who was given up can commit nothing, under a nemesis',
    ...{ ...suite, test: 'a process that was given up takes nothing' },
    says: /was given up, and took a value/,
    patches: [
      patch('src/storage/postgres/membership.ts', 'member = $2 and not ended', 'member = $2'),
      patch(
        'src/storage/postgres/members.ts',
        "members[0]?.counted === true ? members : 'lost'",
        'members',
      ),
    ],
  },
  {
    name: 'an id of QoS 2 is kept in the commit of its value, under a nemesis',
    ...{ ...suite, says: /is stored \d times/ },
    patches: [
      patch(
        'src/storage/postgres/timeseries/kept-ids.ts',
        '  if (rows.length === 0) return;\n  session.send(\n    insert,',
        '  if (rows.length >= 0) return;\n  session.send(\n    insert,',
      ),
    ],
  },
];
