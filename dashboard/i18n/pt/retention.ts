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
    one: 'O resumo de cada hora é guardado durante {count} dia.',
    many: 'O resumo de cada hora é guardado durante {count} dias.',
    other: 'O resumo de cada hora é guardado durante {count} dias.',
  },
  hoursForEver: 'O resumo de cada hora é guardado para sempre.',
  noHours: 'Dos mais antigos não fica nada.',
  sensor: 'Está definido para o sensor.',
  device: 'Está definido para o dispositivo.',
  user: 'Está definido para a conta do proprietário.',
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
  ownHolds: 'Os sensores e dispositivos com definição própria seguem essa definição.',
  rawDays: 'Dias que os valores são guardados',
  hourlyDays: 'Dias que as horas são guardadas',
  empty: 'Vazio: para sempre.',
  hourlyHint:
    'Os gráficos de períodos longos continuam a partir das horas: mínimo, máximo e soma. Vazio: ' +
    'para sempre.',
  badDays: 'Indique um número inteiro de dias, no máximo {max}, ou nada.',
  tooShort: 'As horas são guardadas pelo menos tanto tempo como os valores.',
  askTitle: 'Apagar valores antigos?',
  ask: {
    one:
      'Os valores com mais de {count} dia são apagados, agora e daqui em diante. Não há volta ' +
      'atrás.',
    many:
      'Os valores com mais de {count} dias são apagados, agora e daqui em diante. Não há volta ' +
      'atrás.',
    other:
      'Os valores com mais de {count} dias são apagados, agora e daqui em diante. Não há volta ' +
      'atrás.',
  },
  older: {
    one: 'Hoje, {count} valor é tão antigo.',
    many: 'Hoje, {count} valores são tão antigos.',
    other: 'Hoje, {count} valores são tão antigos.',
  },
  doDelete: 'Apagar valores antigos',
  outer: 'Não definir nada aqui',
  outerAsk:
    'Volta a valer o que está definido para o dispositivo, a conta ou todo o serviço. Isso pode ' +
    'apagar valores antigos.',
};
