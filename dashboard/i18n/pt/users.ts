import type { Translation } from '../dictionary.ts';

/** As contas, para administradores. */
export const users: Translation<'users'> = {
  one: 'Utilizador',
  all: 'Todos os utilizadores',
  adminsOnly: 'Só para administradores.',
  search: 'Procurar utilizadores',
  searchHint: 'Nome de utilizador, nome, e-mail ou telefone',
  count: { one: '{count} utilizador', other: '{count} utilizadores' },
  tooMany: 'Só se mostram os primeiros {count}. Procure para ver outros.',
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
  deleted: 'A conta {name} foi apagada',
  show: 'Mostrar',
  showAll: 'Todos',
  showNever: 'Nunca entraram',
  showInactive: {
    one: 'Sem entrar há {count} dia',
    other: 'Sem entrar há {count} dias',
  },
  showAdmins: 'Administradores',
  showLocked: 'Bloqueados',
  lastLogin: 'entrou pela última vez em {date}',
  neverLoggedIn: 'nunca entrou',
  choose: 'Escolher {name}',
  chooseAll: { one: 'Escolher {count} utilizador', other: 'Escolher todos os {count}' },
  several: { one: 'Com {count} utilizador', other: 'Com {count} utilizadores' },
  severalGo: 'Continuar',
  severalBusy: '{done} de {count}…',
  severalDone: { one: '{count} conta foi alterada', other: '{count} contas foram alteradas' },
  passwords: 'Novas palavras-passe, com fichas',
  passwordsText: {
    one:
      'Cria uma nova palavra-passe para {count} utilizador, que sai de todas as sessões e ' +
      'escolhe a sua quando voltar a entrar. Recebe uma ficha para imprimir.',
    other:
      'Cria novas palavras-passe para {count} utilizadores, que saem de todas as sessões e ' +
      'escolhem a sua quando voltarem a entrar. Recebe fichas para imprimir.',
  },
  passwordsDo: { one: 'Criar {count} palavra-passe', other: 'Criar {count} palavras-passe' },
  newPasswords: 'Novas palavras-passe',
  creditText: {
    one: 'Define quantas mensagens restam a {count} utilizador.',
    other: 'Define quantas mensagens restam a cada um de {count} utilizadores.',
  },
  creditDo: { one: 'Definir para {count} utilizador', other: 'Definir para {count} utilizadores' },
  lock: 'Bloquear',
  lockText: {
    one:
      '{count} utilizador deixa de poder entrar, e as chaves desta conta terminam. ' +
      'Dispositivos e valores ficam.',
    other:
      '{count} utilizadores deixam de poder entrar, e as chaves destas contas terminam. ' +
      'Dispositivos e valores ficam.',
  },
  lockDo: { one: 'Bloquear {count} utilizador', other: 'Bloquear {count} utilizadores' },
  unlock: 'Deixar entrar de novo',
  unlockText: {
    one: '{count} utilizador pode voltar a entrar, com novas chaves.',
    other: '{count} utilizadores podem voltar a entrar, com novas chaves.',
  },
  unlockDo: {
    one: 'Deixar entrar {count} utilizador',
    other: 'Deixar entrar {count} utilizadores',
  },
  deleteSeveralText: {
    one:
      'Apaga {count} conta com todos os seus dispositivos, valores, alertas e chaves. Não ' +
      'pode ser desfeito.',
    other:
      'Apaga {count} contas com todos os seus dispositivos, valores, alertas e chaves. Não ' +
      'pode ser desfeito.',
  },
  deleteDevices: {
    one: '{count} dispositivo é apagado com elas.',
    other: '{count} dispositivos são apagados com elas.',
  },
  deleteSeveralDo: { one: 'Apagar {count} conta', other: 'Apagar {count} contas' },
  deleteSeveral: 'Apagar',
  slipName: 'Nome',
  slipsDone: 'Voltar aos utilizadores',
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
