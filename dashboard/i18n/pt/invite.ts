import type { Translation } from '../dictionary.ts';

/** Links that let people join. */
export const invite: Translation<'invite'> = {
  one: 'Convite',
  title: 'Convidar por link',
  text: 'Com um link ou um código QR juntam-se pessoas, mesmo sem terem ainda conta aqui.',
  right: 'O que podem fazer',
  see: 'Ver e ler os valores',
  send: 'Também enviar valores e usar os comandos',
  change: 'Também alterar',
  lasts: 'O link é válido durante',
  days: { one: '{count} dia', other: '{count} dias' },
  uses: 'Para quantas pessoas',
  usesBad: 'Escreva um número inteiro de 1 a {max}.',
  make: 'Criar um link',
  link: 'Link de convite',
  once: 'Este link não volta a ser mostrado. Copie-o, ou deixe as pessoas ler o código.',
  left: {
    one: 'para mais {count} pessoa, até {date}',
    other: 'para mais {count} pessoas, até {date}',
  },
  another: 'Criar outro link',
  open: 'Convites abertos',
  revoke: 'Cancelar',
  revoked: 'O link já não funciona',
  invites: 'Convite de {name}',
  device: 'dispositivo',
  project: 'projeto',
  group: 'grupo',
  until: 'O convite é válido até {date}.',
  joinAs: 'Juntar-se como {name}',
  signUp: 'Crie uma conta para se juntar',
};
