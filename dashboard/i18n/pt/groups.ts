import type { Translation } from '../dictionary.ts';

/** Groups of people to share with. */
export const groups: Translation<'groups'> = {
  title: 'Grupos',
  one: 'Grupo',
  text:
    'Pessoas sob um nome, como uma turma. O que partilha com um grupo é partilhado com ' +
    'todos os que estão nele, e acaba para quem sai.',
  none: 'Ainda não tem grupos',
  add: 'Novo grupo',
  name: 'Nome do grupo',
  nameMissing: 'Dê um nome ao grupo.',
  people: 'Nomes de utilizador',
  peopleHint: 'Um por linha, ou separados por vírgulas. Pode colar uma lista.',
  members: { one: '{count} pessoa', other: '{count} pessoas' },
  all: 'Todos os grupos',
  who: 'Quem está nele',
  nobody: 'Ainda não está ninguém no grupo.',
  addPeople: 'Juntar ao grupo',
  remove: 'Tirar',
  removed: '{name} já não está no grupo',
  added: { one: '{count} pessoa acrescentada', other: '{count} pessoas acrescentadas' },
  back: '{name} está de novo no grupo',
  shared: 'O que é partilhado com ele',
  sharedNone:
    'Ainda nada. Abra um dispositivo ou projeto, toque em Partilhar e escolha este grupo.',
  rename: 'Mudar o nome',
  renamed: 'O grupo chama-se agora {name}',
  delete: 'Apagar este grupo',
  deleteText: '{name} é apagado, e o que era partilhado com ele deixa de o ser. As contas ficam.',
  deleted: 'Grupo apagado',
  unknown: 'Ninguém tem estes nomes: {names}. Nada foi mudado.',
};
