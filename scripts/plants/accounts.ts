import { limit, type Plant } from './plant.ts';

/** Logins, passwords, addresses, and what belongs to whom. */
export const plantsOfAccounts: readonly Plant[] = [
  {
    name: 'failed logins of one address have an end',
    ...{ file: 'neighbours/accounts-logins.test.ts', test: 'invented names', says: /./ },
    patches: [limit('loginFailuresPerAddress: 100', 'loginFailuresPerAddress: 100_000')],
  },
  {
    name: 'a DELETE that a client leads back is refused',
    ...{ file: 'neighbours/accounts-addresses.test.ts', test: 'under the name ..', says: /./ },
    patches: [
      {
        file: 'src/http/route.ts',
        from: '      if (isDoubtful) requireNoTrailingSlash(request);\n',
        to: '',
      },
    ],
  },
];
