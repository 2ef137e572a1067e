import type { BudgetName } from '../src/domain/budgets/budget-table.ts';

/** A mend that is taken out again, and the test that has to notice. */
export interface Plant {
  readonly name: string;
  /** Below test/neighbours. */
  readonly file: string;
  /** A part of the name of the test. */
  readonly test: string;
  /** This budget has no end. */
  readonly budget?: BudgetName;
  /** Texts of the sources that are replaced; each must be there once. */
  readonly patches?: readonly Patch[];
}

export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const limitsFile = 'src/domain/limits.ts';
const limit = (from: string, to: string): Patch => ({ file: limitsFile, from, to });

/** One line for each mend that is known to be noticed when it is missing. */
export const plants: readonly Plant[] = [
  {
    name: 'connections have an error listener from accept to close',
    ...{ file: 'sockets-silent.test.ts', test: 'said nothing for 10.6 s' },
    patches: [
      {
        file: 'src/lib/connection-guard.ts',
        from: "    socket.on('error', ignore);\n    if (isOver)",
        to: '    if (isOver)',
      },
    ],
  },
  {
    name: 'answers that are not read',
    ...{ file: 'reads-unread.test.ts', test: '1,500 connections', budget: 'answer_bytes' },
  },
  {
    name: 'requests in one breath',
    ...{ file: 'reads-unread.test.ts', test: '200 answers in one breath', budget: 'answer_bytes' },
    patches: [limit('pipelinedRequestsMax: 64', 'pipelinedRequestsMax: 100_000')],
  },
  {
    name: 'unfinished bodies',
    ...{ file: 'sockets-large-pushes.test.ts', test: '60 bodies', budget: 'partial_bytes' },
  },
  {
    name: 'kept sessions with long filters',
    ...{ file: 'mqtt-memory.test.ts', test: 'long filters', budget: 'mqtt_session_bytes' },
  },
  {
    name: 'wills that wait',
    ...{ file: 'mqtt-memory.test.ts', test: 'wills that wait', budget: 'mqtt_will_bytes' },
  },
  {
    name: 'groups of one payer',
    ...{ file: 'mqtt-queues.test.ts', test: 'strangers in a group' },
    patches: [
      {
        file: 'src/mqtt/broker/subscription-tree.ts',
        from: 'payer}/$',
        to: 'payer.slice(0, 0)}$',
      },
    ],
  },
  {
    name: 'previews side by side',
    ...{ file: 'alarms-rules.test.ts', test: 'previews side by side', budget: 'previews' },
  },
  {
    name: 'silences of five accounts',
    ...{ file: 'alarms-rules.test.ts', test: 'five accounts', budget: 'silences' },
    patches: [limit('silencesPerLook: 64', 'silencesPerLook: 1_000_000')],
  },
  {
    name: 'searches at once',
    ...{ file: 'reads-filters.test.ts', test: 'costly patterns', budget: 'long_reads' },
  },
  {
    name: 'turns of long work',
    ...{ file: 'reads-filters.test.ts', test: 'costly patterns' },
    patches: [limit('  turnMs: 5,', '  turnMs: 5_000,')],
  },
  {
    name: 'deliveries under way to one host',
    ...{ file: 'alarms-deliveries.test.ts', test: 'nine accounts' },
    patches: [
      limit('deliveriesUnderWayPerPayerMax: 16', 'deliveriesUnderWayPerPayerMax: 4_096'),
      limit('deliveriesUnderWayPerHostMax: 16', 'deliveriesUnderWayPerHostMax: 4_096'),
    ],
  },
  {
    name: 'failed logins of one address',
    ...{ file: 'accounts-logins.test.ts', test: 'invented names' },
    patches: [limit('loginFailuresPerAddress: 100', 'loginFailuresPerAddress: 100_000')],
  },
  {
    name: 'a DELETE that a client leads back',
    ...{ file: 'accounts-addresses.test.ts', test: 'under the name ..' },
    patches: [
      {
        file: 'src/http/route.ts',
        from: '      if (isDoubtful) requireNoTrailingSlash(request);\n',
        to: '',
      },
    ],
  },
];
