import type { Translation } from '../dictionary.ts';

/** Projects: named groups of devices and gateways. */
export const projects: Translation<'projects'> = {
  one: 'Projeto',
  none: 'Ainda não tem projetos',
  noneText: 'Um projeto mostra dispositivos que vão juntos, num gráfico e num mapa.',
  add: 'Novo projeto',
  name: 'Nome',
  nameMissing: 'Dê um nome ao projeto.',
  members: 'O que lhe pertence',
  devices: 'Dispositivos',
  gateways: 'Gateways',
  counts: '{devices}, {gateways}',
  gatewayCount: { one: '{count} gateway', other: '{count} gateways' },
  choose: 'Escolher dispositivos e gateways',
  empty: 'Ainda nada pertence a este projeto.',
  hidden: {
    one: 'mais {count} que não pode ver, ou que já não existe',
    other: 'mais {count} que não pode ver, ou que já não existem',
  },
  chart: 'Juntos num gráfico',
  quantity: 'O que é mostrado',
  saved: 'Projeto guardado',
  delete: 'Apagar este projeto',
  deleteText: '{name} é apagado. Os seus dispositivos e gateways ficam.',
  deleted: 'Projeto apagado',
  all: 'Todos os projetos',
  export: 'Descarregar todos os dados',
  chartFirst: 'O gráfico mostra as primeiras {count} linhas de {all}.',
};
