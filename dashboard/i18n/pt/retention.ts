import type { Translation } from '../dictionary.ts';

/** For how long values are kept, what goes next and when, and how to set it. */
export const retention: Translation<'retention'> = {
  title: 'Quanto tempo os valores são guardados',
  forEver: 'Todos os valores são guardados para sempre.',
  days: {
    one: 'Os valores são guardados durante {count} dia.',
    many: 'Os valores são guardados durante {count} dias.',
    other: 'Os valores são guardados durante {count} dias.',
  },
  hours: {
    one: 'Os resumos horários são guardados durante {count} dia.',
    many: 'Os resumos horários são guardados durante {count} dias.',
    other: 'Os resumos horários são guardados durante {count} dias.',
  },
  hoursForEver: 'Os resumos horários são guardados para sempre.',
  noHours: 'Nada mais antigo é guardado.',
  sensor: 'Está definido para o sensor.',
  device: 'Está definido para o dispositivo.',
  user: 'Está definido para a conta do dono.',
  service: 'Está definido para todo o serviço.',
  nextNow: {
    one: '{count} valor anterior a {before} será apagado dentro de uma hora.',
    many: '{count} valores anteriores a {before} serão apagados dentro de uma hora.',
    other: '{count} valores anteriores a {before} serão apagados dentro de uma hora.',
  },
  nextOn: {
    one: '{count} valor anterior a {before} será apagado em {day}.',
    many: '{count} valores anteriores a {before} serão apagados em {day}.',
    other: '{count} valores anteriores a {before} serão apagados em {day}.',
  },
  nextNone: 'Antes de {day} nada é apagado.',
  ownHolds: 'Os sensores e dispositivos com definição própria seguem-na.',
  rawDays: 'Dias durante os quais os valores são guardados',
  hourlyDays: 'Dias durante os quais os resumos horários são guardados',
  empty: 'Vazio: para sempre.',
  hourlyHint:
    'Os gráficos de períodos longos usam os resumos horários: mínimo, máximo e soma. ' +
    'Vazio: para sempre.',
  badDays: 'Indique um número inteiro de dias, no máximo {max}, ou nada.',
  tooShort: 'Os resumos horários são guardados pelo menos tanto tempo como os valores.',
  askTitle: 'Apagar valores antigos?',
  ask: {
    one:
      'Os valores com mais de {count} dia são apagados, agora e daqui em diante. Não pode ' +
      'ser desfeito.',
    many:
      'Os valores com mais de {count} dias são apagados, agora e daqui em diante. Não pode ' +
      'ser desfeito.',
    other:
      'Os valores com mais de {count} dias são apagados, agora e daqui em diante. Não pode ' +
      'ser desfeito.',
  },
  older: {
    one: 'Hoje, há {count} valor com essa idade.',
    many: 'Hoje, há {count} valores com essa idade.',
    other: 'Hoje, há {count} valores com essa idade.',
  },
  doDelete: 'Apagar valores antigos',
  outer: 'Usar a definição geral',
  outerAsk:
    'Volta a valer o que está definido para o dispositivo, a conta ou todo o serviço. Isso pode ' +
    'apagar valores antigos.',
};
