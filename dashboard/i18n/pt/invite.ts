import type { Translation } from '../dictionary.ts';

/** Links that let people join. */
export const invite: Translation<'invite'> = {
  one: 'Convite',
  title: 'Convidar por link',
  text: 'Um link ou código QR permite a entrada de pessoas que ainda não têm conta aqui.',
  right: 'O que elas podem fazer',
  see: 'Ver e ler os valores',
  send: 'Também enviar valores e usar os controles',
  change: 'Também alterar',
  lasts: 'O link vale por',
  days: { one: '{count} dia', other: '{count} dias' },
  uses: 'Para quantas pessoas',
  usesBad: 'Digite um número inteiro de 1 a {max}.',
  make: 'Criar um link',
  link: 'Link de convite',
  once: 'Este link não será mostrado de novo. Copie-o ou deixe as pessoas lerem o código.',
  left: {
    one: 'para mais {count} pessoa, até {date}',
    other: 'para mais {count} pessoas, até {date}',
  },
  another: 'Criar outro link',
  open: 'Convites abertos',
  revoke: 'Cancelar',
  revoked: 'O link não funciona mais',
  invites: '{name} convida você',
  device: 'dispositivo',
  project: 'projeto',
  group: 'grupo',
  until: 'O convite vale até {date}.',
  joinAs: 'Entrar como {name}',
  signUp: 'Crie uma conta para entrar',
};
