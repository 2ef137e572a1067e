import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Gateway',
  none: 'Ainda não tem gateways',
  noneText:
    'Um gateway transmite os valores de dispositivos que não têm internet própria. ' +
    'Também aparece aqui.',
  add: 'Adicionar um gateway',
  id: 'Id do gateway',
  idHint: 'O que o próprio gateway usa, por exemplo na etiqueta.',
  idBad: 'Um id não tem espaços nem & ? / # + < > " \' = ; ( ) % \\',
  name: 'Nome',
  connected: 'ligado',
  lastSeen: 'último sinal {age}',
  neverSeen: 'nenhum sinal',
  week: 'Sinais nos últimos 7 dias',
  weekIs: 'Nos últimos 7 dias, {name} esteve em silêncio {hours} de {all} horas.',
  weekFull: 'Nos últimos 7 dias, {name} deu sinal o tempo todo.',
  weekNothing: '{name} não deu nenhum sinal nos últimos 7 dias.',
  heard: 'ativo',
  silent: 'silêncio',
  notYet: 'ainda não existia',
  noDevices: 'Nenhum dispositivo está ligado por este gateway.',
  delete: 'Apagar este gateway',
  deleteText: '{name} é apagado. Os seus dispositivos e os dados deles ficam.',
  saved: 'Gateway guardado',
  deleted: 'Gateway apagado',
  all: 'Todos os gateways',
  place: 'Onde está',
  owner: 'pertence a {name}',
};
