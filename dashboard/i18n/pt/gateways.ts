import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Gateway',
  none: 'Ainda não tem gateways',
  noneText:
    'Um gateway retransmite por dispositivos que não têm internet própria. Também aparece aqui.',
  add: 'Adicionar um gateway',
  id: 'Id do gateway',
  idHint: 'O que o próprio gateway tem, por exemplo na etiqueta.',
  idBad: 'Um id não tem espaços nem & ? / # + < > " \' = ; ( ) % \\',
  name: 'Nome',
  connected: 'ligado',
  lastSeen: 'visto {age}',
  neverSeen: 'nunca visto',
  week: 'Ouvido nos últimos 7 dias',
  weekIs: 'Nos últimos 7 dias, {name} esteve em silêncio {hours} de {all} horas.',
  weekFull: 'Nos últimos 7 dias, {name} foi ouvido o tempo todo.',
  weekNothing: 'Nada se ouviu de {name} nos últimos 7 dias.',
  heard: 'ouvido',
  silent: 'silêncio',
  notYet: 'ainda não existia',
  noDevices: 'Nenhum dispositivo diz estar ligado por este gateway.',
  delete: 'Apagar este gateway',
  deleteText: '{name} é apagado. Os seus dispositivos e dados ficam.',
  saved: 'Gateway guardado',
  deleted: 'Gateway apagado',
  all: 'Todos os gateways',
  place: 'Onde está',
  owner: 'pertence a {name}',
};
