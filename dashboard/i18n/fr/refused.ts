import type { Translation } from '../dictionary.ts';

/** What was sent to a device and refused. */
export const refused: Translation<'refused'> = {
  title: 'Ceci est arrivé, et a été refusé',
  times: { one: '{count} fois', many: '{count} fois', other: '{count} fois' },
  no_key:
    'L’envoi est arrivé sans clé. Copiez les lignes avec leur clé, ou créez une clé ' +
    'ci-dessus.',
  wrong_key:
    'La clé est incorrecte : il manque un caractère, ou elle a été supprimée. Créez-en ' +
    'une ci-dessus.',
  not_allowed:
    'La clé est celle d’un autre appareil ou compte, ou n’a pas le droit d’envoyer. ' +
    'Créez-en une ci-dessus.',
  unknown_device:
    'L’envoi était pour l’appareil « {device} », qui n’existe pas. Celui-ci s’appelle « ' +
    '{own} ».',
  unknown_sensor:
    'L’envoi était pour le capteur « {sensor} », qui n’existe pas. Cet appareil a : ' +
    '{sensors}.',
  wrong_path:
    'L’envoi était pour une adresse ou un sujet (topic) qui n’existe pas ici. Comparez ' +
    'avec les lignes ci-dessus, lettre par lettre.',
  unreadable:
    'La valeur est illisible. Écrivez les décimales avec un point, et le texte entre ' +
    'guillemets.',
  clock_ahead:
    'L’heure indiquée a plus d’un jour d’avance. Réglez l’horloge de l’appareil, ou ' +
    'n’envoyez pas d’heure.',
  too_large: 'Ce qui a été envoyé est trop grand.',
  too_often:
    'L’appareil envoie ou se connecte trop souvent. Attendez une minute, puis envoyez ' +
    'moins souvent.',
  no_room: 'Il n’y a plus de place. Supprimez quelque chose, ou demandez à un administrateur.',
  unavailable:
    'Le service n’a pas pu l’enregistrer à ce moment. L’appareil devrait le ' + 'renvoyer.',
  elements:
    'Sur plusieurs valeurs d’un même envoi, celles-ci ont été refusées ; les autres sont ' +
    'enregistrées :',
  element: 'N° {place} : {excerpt}',
  addSensor: 'Ajouter un capteur',
};
