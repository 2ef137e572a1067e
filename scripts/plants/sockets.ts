import { limit, type Plant } from './plant.ts';

const largePushes = 'neighbours/sockets-large-pushes.test.ts';
const unread = 'neighbours/reads-unread.test.ts';

/** Connections, bodies and answers. */
export const plantsOfSockets: readonly Plant[] = [
  {
    name: 'a connection has an error listener from accept to close',
    ...{ file: 'neighbours/sockets-silent.test.ts', test: 'said nothing for 10.6 s' },
    says: /./,
    patches: [
      {
        file: 'src/lib/connection-guard.ts',
        from: "    socket.on('error', ignore);\n    if (isOver)",
        to: '    if (isOver)',
      },
    ],
  },
  {
    name: 'answers that are not read have a budget',
    ...{ file: unread, test: '1,500 connections', budget: 'answer_bytes', says: /./ },
  },
  {
    name: 'answers that are asked for in one breath have a budget',
    ...{ file: unread, test: '200 answers in one breath', budget: 'answer_bytes', says: /./ },
    patches: [limit('pipelinedRequestsMax: 64', 'pipelinedRequestsMax: 100_000')],
  },
  {
    name: 'unfinished bodies have a budget',
    ...{ file: largePushes, test: '60 bodies', budget: 'partial_bytes', says: /./ },
  },
];
