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
};
