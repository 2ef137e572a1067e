import type { Translation } from '../dictionary.ts';

/** Maps and places. */
export const map: Translation<'map'> = {
  title: 'Carte',
  label: 'Carte de {count} lieux',
  loading: 'La carte se dessine…',
  failed: 'La carte n’a pas pu être chargée.',
  zoomIn: 'Zoom avant',
  zoomOut: 'Zoom arrière',
  cluster: { one: '{count} appareil ici', other: '{count} appareils ici' },
  withoutPlace: {
    one: '{count} appareil n’a pas encore de lieu',
    other: '{count} appareils n’ont pas encore de lieu',
  },
  nobody: 'Rien n’est encore placé ici.',
  fresh: 'à jour',
  stale: 'silencieux',
  alert: 'alerte',
  off: 'arrêté',
  open: 'Ouvrir',
  pick: 'Touchez la carte là où se trouve l’appareil, ou saisissez ses coordonnées.',
  latitude: 'Latitude',
  longitude: 'Longitude',
  latitudeBad: 'La latitude est un nombre de -90 à 90.',
  longitudeBad: 'La longitude est un nombre de -180 à 180.',
  hereIAm: 'Là où je suis',
  hereFailed: 'Votre position est introuvable. Saisissez-la, ou touchez la carte.',
  hereRefused:
    'Le navigateur n’a pas le droit de donner votre position. Autorisez-le, saisissez-la, ou ' +
    'touchez la carte.',
  searching: 'Recherche de votre position…',
  remove: 'Retirer le lieu',
  lake: 'Lac {name}',
  search: 'Ville, lac ou pays',
  notFound: 'Aucun lieu de ce nom n’est connu ici.',
  positionFailed: 'Votre position est introuvable.',
  positionRefused:
    'Le navigateur n’a pas le droit de donner votre position. Autorisez-le, puis réessayez.',
  picked: 'Choisi : {latitude}, {longitude}',
};
