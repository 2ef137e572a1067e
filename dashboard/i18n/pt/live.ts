import type { Translation } from '../dictionary.ts';

/** The state of the live connection. */
export const live: Translation<'live'> = {
  live: 'em direto',
  connecting: 'a ligar…',
  offline: 'sem ligação',
  polling: 'a cada 15 s',
  liveHint: 'Os novos valores aparecem sozinhos.',
  connectingHint: 'A tentar chegar ao serviço para receber novos valores.',
  offlineHint: 'Sem ligação: estes são os últimos valores conhecidos.',
  pollingHint: 'Sem ligação em direto: os novos valores são pedidos a cada 15 s.',
};
