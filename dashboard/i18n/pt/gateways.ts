import type { Translation } from '../dictionary.ts';

/** Gateways: being heard from, devices, adding one. */
export const gateways: Translation<'gateways'> = {
  one: 'Gateway',
  none: 'Ainda não tem gateways',
  noneText:
    'Um gateway transmite os valores de dispositivos que não têm internet própria. ' +
    'Também aparece aqui.',
  add: 'Adicionar um gateway',
  kit: 'O meu kit é um gateway',
  kitText: 'Transmite os valores de outros dispositivos, por LoRa por exemplo?',
  what:
    'Um gateway envia os valores de dispositivos que não têm internet própria. O seu ' +
    'id é o nome com que ele se anuncia aqui: está na etiqueta, ou na página de definições do ' +
    'próprio gateway.',
  setUp: 'Configurar o gateway {id}',
  setUpText: 'Escreva isto nas definições do gateway. Ele próprio cria aqui os seus dispositivos.',
  keyText:
    'Como palavra-passe, o gateway precisa de uma chave. Uma chave pode ser apagada ' +
    'sozinha, e a sua própria palavra-passe fica consigo.',
  keyMake: 'Criar uma chave para este gateway',
  waiting: 'À espera do gateway…',
  waitingValue: 'O gateway anunciou-se. À espera do primeiro valor de um dos seus dispositivos…',
  ready: 'O seu gateway está pronto. {name}:',
  see: 'Ver o gateway',
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
