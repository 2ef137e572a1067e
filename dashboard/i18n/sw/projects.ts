import type { Translation } from '../dictionary.ts';

/** Projects: named groups of devices and gateways. */
export const projects: Translation<'projects'> = {
  one: 'Mradi',
  none: 'Bado huna miradi',
  noneText: 'Mradi huonyesha vifaa vinavyoendana pamoja, kwenye grafu moja na ramani moja.',
  add: 'Mradi mpya',
  name: 'Jina',
  nameMissing: 'Upe mradi jina.',
  members: 'Vilivyomo',
  devices: 'Vifaa',
  gateways: 'Malango',
  counts: '{devices}, {gateways}',
  gatewayCount: { one: 'lango {count}', other: 'malango {count}' },
  choose: 'Chagua vifaa na malango',
  empty: 'Bado hakuna kitu katika mradi huu.',
  hidden: {
    one: '{count} zaidi ambacho huwezi kukiona, au hakipo tena',
    other: '{count} zaidi ambavyo huwezi kuviona, au havipo tena',
  },
  chart: 'Pamoja kwenye grafu moja',
  quantity: 'Kinachoonyeshwa',
  saved: 'Mradi umehifadhiwa',
  delete: 'Futa mradi huu',
  deleteText: '{name} utafutwa. Vifaa na malango yake yatabaki.',
  deleted: 'Mradi umefutwa',
  all: 'Miradi yote',
  export: 'Pakua data zote',
  chartFirst: 'Grafu inaonyesha mistari {count} ya kwanza kati ya {all}.',
};
