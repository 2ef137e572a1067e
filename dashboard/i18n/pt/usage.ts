import type { Translation } from '../dictionary.ts';

/** What is used of every budget, for administrators. */
export const usage: Translation<'usage'> = {
  title: 'Utilização',
  text:
    'O que todas as contas e convidados partilham, e quem usa mais. Um administrador muda ' +
    'os totais com KIPIMO_BUDGETS.',
  again: 'Atualizar',
  of: '{used} de {total}',
  guests: 'convidados {used}',
  most: 'mais: {names}',
  refused: {
    one: '{count} recusa desde o início',
    many: '{count} recusas desde o início',
    other: '{count} recusas desde o início',
  },
  connections: 'Ligações',
  partial_bytes: 'Corpos e pacotes por acabar',
  answer_bytes: 'Respostas ainda não lidas',
  notification_bytes: 'Alertas em memória',
  silences: 'Silêncios vigiados',
  previews: 'Pré-visualizações de alertas',
  mqtt_sessions: 'Sessões MQTT',
  mqtt_session_bytes: 'Subscrições das sessões MQTT',
  mqtt_will_bytes: 'Últimas vontades',
  mqtt_queued_bytes: 'Mensagens à espera de clientes MQTT',
  timed_settings: 'Comandos definidos por um tempo',
  mqtt_retained: 'Mensagens retidas',
  mqtt_retained_bytes: 'Bytes das mensagens retidas',
  mqtt_publish_bytes: 'Mensagens MQTT a chegar',
  mqtt_store_changes: 'Alterações MQTT por guardar',
  long_reads: 'Leituras longas',
};
