import type { Translation } from '../dictionary.ts';

/** How a device sends its values: lines to copy, a key, a QR code. */
export const send: Translation<'send'> = {
  title: 'Envoyer des valeurs',
  text:
    'Copiez ces lignes dans ce que vous construisez. Les identifiants sont déjà ceux de ' +
    'cet appareil.',
  sensor: 'Capteur',
  way: 'Avec',
  public:
    'Cet appareil est public : quiconque connaît son identifiant peut lui envoyer des valeurs.',
  private:
    'Cet appareil est privé : pour envoyer, il faut une clé. Elle n’expire pas et ne ' +
    'permet rien d’autre.',
  granted:
    'Tout le monde voit cet appareil, mais pour envoyer, il faut une clé. Elle n’expire pas ' +
    'et ne permet rien d’autre.',
  makeKey: 'Créer une clé pour cet appareil',
  keyName: 'appareil {name}',
  keyMade:
    'La clé est dans les lignes ci-dessous. Elle n’est montrée que cette fois : ' +
    'copiez-les maintenant.',
  qr: 'Code QR',
  qrText: 'Ouvre cet appareil sur un autre téléphone. Imprimez-le et collez-le sur le boîtier.',
  noSensor: 'Ajoutez d’abord un capteur ; les lignes seront ici.',
  keyNeeded: 'Les lignes s’affichent avec une clé, pour fonctionner telles quelles.',
  board: 'Carte',
  wifi: 'Nom de votre Wi-Fi',
  wifiPassword: 'Son mot de passe',
  wifiHint: 'Tous deux restent sur cette page : ils vont dans les lignes.',
  noHttps: 'Cette carte ne parle pas HTTPS : il lui faut une adresse du service en http://.',
  addSensor: 'Ajouter un capteur',
  loginForKey: 'Connectez-vous pour créer une clé : il en faut une pour envoyer.',
};
