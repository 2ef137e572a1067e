import type { Translation } from '../dictionary.ts';

/** Mensagens entre pessoas. */
export const messages: Translation<'messages'> = {
  in: 'Recebidas',
  title: 'Mensagens',
  write: 'Nova mensagem',
  out: 'Enviadas',
  'none-in': 'Ainda ninguém lhe escreveu.',
  'none-out': 'Ainda não escreveu a ninguém.',
  newest: 'Estão entre as {count} mais recentes.',
  keptOnly: 'guardada só aqui',
  toWhom: 'para {name}',
  deleted: 'A mensagem foi apagada',
  delete: 'Apagar esta mensagem',
  deleteText: 'Desaparece para ambos. O que seguiu por SMS ou e-mail fica com a pessoa.',
  recipients: 'Para',
  text: 'Mensagem',
  also: 'Enviar também por (se não, lê-se só aqui)',
  send: 'Enviar',
  sent: 'A mensagem vai a caminho',
};
