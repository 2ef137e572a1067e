import { limit, type Plant } from './plant.ts';

const rules = 'neighbours/alarms-rules.test.ts';

/** Notifications and what they send. */
export const plantsOfAlarms: readonly Plant[] = [
  {
    name: 'previews side by side have a budget',
    ...{ file: rules, test: 'previews side by side', budget: 'previews', says: /./ },
  },
  {
    name: 'silences have a budget',
    ...{ file: rules, test: 'five accounts', budget: 'silences', says: /./ },
    patches: [limit('silencesPerLook: 64', 'silencesPerLook: 1_000_000')],
  },
  {
    name: 'deliveries to one host are few at a time',
    ...{ file: 'neighbours/alarms-deliveries.test.ts', test: 'nine accounts', says: /./ },
    patches: [
      limit('deliveriesUnderWayPerPayerMax: 16', 'deliveriesUnderWayPerPayerMax: 4_096'),
      limit('deliveriesUnderWayPerHostMax: 16', 'deliveriesUnderWayPerHostMax: 4_096'),
    ],
  },
];
