import type { Translation } from '../dictionary.ts';

/** Projects: named groups of devices and gateways. */
export const projects: Translation<'projects'> = {
  one: 'Projeto',
  none: 'Ainda não tem projetos',
  noneText: 'Um projeto reúne dispositivos num mesmo gráfico e num mesmo mapa.',
  add: 'Novo projeto',
  name: 'Nome',
  nameMissing: 'Dê um nome ao projeto.',
  members: 'O que faz parte dele',
  devices: 'Dispositivos',
  gateways: 'Gateways',
  counts: '{devices}, {gateways}',
  gatewayCount: { one: '{count} gateway', other: '{count} gateways' },
  choose: 'Escolher dispositivos e gateways',
  empty: 'Este projeto ainda está vazio.',
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
