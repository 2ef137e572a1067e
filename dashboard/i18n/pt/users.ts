import type { Translation } from '../dictionary.ts';

/** As contas, para administradores. */
export const users: Translation<'users'> = {
  one: 'Utilizador',
  all: 'Todos os utilizadores',
  adminsOnly: 'Só para administradores.',
  search: 'Procurar utilizadores',
  searchHint: 'Nome de utilizador, nome ou e-mail',
  count: { one: '{count} utilizador', other: '{count} utilizadores' },
  found: '{shown} de {count}',
  tooMany:
    'Só se procura nas primeiras {count} contas. As mais recentes encontram-se pelo nome ' +
    'de utilizador exato.',
  nobody: 'Ninguém corresponde',
  showMore: 'Mostrar mais',
  new: 'Novo utilizador',
  created: '{name} já pode entrar',
  create: 'Criar a conta',
  password: 'Palavra-passe',
  admin: 'Administrador',
  adminText: 'Pode ver e alterar tudo',
  disabled: 'bloqueado',
  enabledText: 'Pode entrar',
  since: 'desde {date}',
  contact: 'Contactos',
  credit: 'Mensagens por SMS ou telefone',
  creditHint: 'Quantas restam. Vazio: sem limite.',
  creditBad: 'Escreva um número inteiro, ou nada.',
  creditLeft: { one: '{count} SMS por usar', other: '{count} SMS por usar' },
  saved: 'Guardado',
  newPassword: 'Definir uma nova palavra-passe',
  newPasswordText: 'A pessoa sai de todas as sessões. Diga-lhe pessoalmente a nova palavra-passe.',
  passwordSet: 'A nova palavra-passe está definida',
  self: 'É você: altere a sua conta no seu perfil.',
  delete: 'Apagar esta conta',
  deleteText:
    'Apaga {name} com todos os dispositivos, valores, alertas e chaves desta conta. ' +
    'Não pode ser desfeito.',
  deleted: '{name} foi apagado',
  importTitle: 'Contas para uma turma',
  importText:
    'Escolha uma lista guardada por uma folha de cálculo (CSV). A primeira linha nomeia ' +
    'as colunas:',
  importColumns:
    'username e, se quiser, name, firstName, lastName, email, phone, group, ' +
    'password. Sem palavra-passe, é criada uma.',
  importFile: 'A lista',
  importNoFile: 'Escolha primeiro um ficheiro.',
  importDo: 'Criar as contas',
  importBusy: 'A criar as contas…',
  importMade: { one: '{count} conta foi criada', other: '{count} contas foram criadas' },
  importRefused: { one: '{count} linha não foi aceite', other: '{count} linhas não foram aceites' },
  importAgain: 'Outra lista',
  slips: 'Fichas',
  slipsOnce: 'Imprima as fichas agora: as palavras-passe não voltam a ser mostradas.',
  slipsPrint: 'Imprimir as fichas',
  slipAddress: 'Endereço',
  slipGiven: 'como na lista',
  initialTitle: 'Escolha a sua própria palavra-passe',
  initialText: 'Outra pessoa conhece a sua palavra-passe. Escolha uma que mais ninguém conheça.',
  initialDo: 'Mudar a palavra-passe',
  initialLater: 'Mais tarde',
};
