import type { Translation } from '../dictionary.ts';

/** Links that let people join. */
export const invite: Translation<'invite'> = {
  one: 'Convite',
  title: 'Convidar por ligação',
  text: 'Uma ligação ou um código QR deixa entrar pessoas que ainda não têm conta aqui.',
  right: 'O que podem fazer',
  see: 'Ver e ler os valores',
  send: 'Também enviar valores e usar os comandos',
  change: 'Também alterar',
  lasts: 'A ligação é válida durante',
  days: { one: '{count} dia', other: '{count} dias' },
  uses: 'Para quantas pessoas',
  usesBad: 'Escreva um número inteiro de 1 a {max}.',
  make: 'Criar uma ligação',
  link: 'Ligação de convite',
  once: 'Esta ligação não volta a ser mostrada. Copie-a, ou deixe as pessoas ler o código.',
  left: {
    one: 'para mais {count} pessoa, até {date}',
    other: 'para mais {count} pessoas, até {date}',
  },
  another: 'Criar outra ligação',
  open: 'Convites abertos',
  revoke: 'Cancelar',
  revoked: 'A ligação já não funciona',
  invites: 'Convite de {name}',
  device: 'dispositivo',
  project: 'projeto',
  group: 'grupo',
  until: 'O convite é válido até {date}.',
  joinAs: 'Entrar como {name}',
  signUp: 'Crie uma conta para entrar',
};
