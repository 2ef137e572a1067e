import type { Translation } from '../dictionary.ts';

/** Saying that values are wrong: taking them away, putting them right, undoing that. */
export const corrections: Translation<'corrections'> = {
  hint: 'Toque num valor, se estiver errado.',
  thisWrong: 'Isto está errado',
  stretchWrong: 'Um período está errado',
  title: 'O que está errado?',
  one: 'Um valor',
  stretch: 'Um período',
  which: 'Que valor está errado?',
  rightValue: 'O valor certo',
  takeAway: 'Retirá-lo',
  putRight: 'Corrigi-lo',
  inStretch: {
    one: '{count} valor será retirado. Pode desfazer durante 30 dias.',
    many: '{count} valores serão retirados. Pode desfazer durante 30 dias.',
    other: '{count} valores serão retirados. Pode desfazer durante 30 dias.',
  },
  tooMany: 'Há muitos valores aqui. Amplie e toque de novo, ou escolha um período.',
  unreachable: 'Com a calibração deste sensor, nenhum valor pode aparecer assim.',
  nothing: 'Já não há nenhum valor aqui.',
  removed: {
    one: '{count} valor retirado',
    many: '{count} valores retirados',
    other: '{count} valores retirados',
  },
  corrected: {
    one: '{count} valor corrigido',
    many: '{count} valores corrigidos',
    other: '{count} valores corrigidos',
  },
  undone: 'Desfeito: os valores estão como antes.',
  list: 'Valores retirados ou corrigidos',
  none: 'Nenhum até agora.',
  by: 'por {name}',
};
