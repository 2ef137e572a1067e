import type { Translation } from '../dictionary.ts';

/** What is used of every budget, for administrators. */
export const usage: Translation<'usage'> = {
  title: 'Utilisation',
  text:
    'Ce que tous les comptes et invités se partagent, et qui en utilise le plus. Un ' +
    'administrateur change les totaux avec KIPIMO_BUDGETS.',
  again: 'Actualiser',
  of: '{used} sur {total}',
  guests: 'invités {used}',
  most: 'le plus : {names}',
  refused: {
    one: '{count} refus depuis le démarrage',
    many: '{count} refus depuis le démarrage',
    other: '{count} refus depuis le démarrage',
  },
  connections: 'Connexions',
  partial_bytes: 'Corps et paquets inachevés',
  answer_bytes: 'Réponses pas encore lues',
  notification_bytes: 'Alertes en mémoire',
  silences: 'Silences surveillés',
  previews: 'Aperçus d’alertes',
  mqtt_sessions: 'Sessions MQTT',
  mqtt_session_bytes: 'Abonnements des sessions MQTT',
  mqtt_will_bytes: 'Dernières volontés',
  mqtt_queued_bytes: 'Messages qui attendent des clients MQTT',
  timed_settings: 'Commandes réglées pour un temps',
  mqtt_retained: 'Messages retenus',
  mqtt_retained_bytes: 'Octets des messages retenus',
  mqtt_publish_bytes: 'Messages MQTT qui arrivent',
  mqtt_store_changes: 'Changements MQTT pas encore enregistrés',
  long_reads: 'Longues lectures',
};
