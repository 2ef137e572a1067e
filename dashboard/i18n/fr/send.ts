import type { Translation } from '../dictionary.ts';

/** How a device sends its values: lines to copy, a key, a QR code. */
export const send: Translation<'send'> = {
  title: 'Envoyer des valeurs',
  text:
    'Copiez ces lignes dans votre programme, avec les identifiants de cet appareil, ou ' +
    'saisissez une valeur à la main.',
  sensor: 'Capteur',
  way: 'Avec',
  public:
    'Cet appareil est public : quiconque connaît son identifiant peut lui envoyer des valeurs.',
  private:
    'Cet appareil est privé : pour envoyer, il faut une clé. Elle n’expire pas et ne ' +
    'sert qu’à cet appareil.',
  granted:
    'Tout le monde voit cet appareil, mais pour envoyer, il faut une clé. Elle n’expire pas ' +
    'et ne sert qu’à cet appareil.',
  makeKey: 'Créer une clé pour cet appareil',
  keyName: 'appareil {name}',
  keyMade:
    'La clé est dans les lignes ci-dessous. Elle n’est affichée qu’une fois : copiez-les ' +
    'maintenant.',
  keyListens:
    'Pour les commandes de cet appareil, une clé créée ici reçoit leurs réglages et les ' +
    'confirme.',
  listen: 'À quoi {name} est réglé',
  listenText: 'Par MQTT, ceci montre chaque réglage de {name} dès qu’il arrive :',
  control: 'Commande',
  askText: 'Ceci demande à quoi {name} est réglé :',
  pythonListens:
    'Ce programme, avec le paquet paho-mqtt, reçoit chaque réglage de {name} et le confirme :',
  sketchListens:
    'Le croquis ci-dessus envoie la valeur, reçoit les réglages de {name} et les confirme. Il ' +
    'lui faut la bibliothèque PubSubClient (Outils, Gérer les bibliothèques).',
  confirmText: 'Quand la carte l’a fait, elle le dit ainsi :',
  confirm: 'Confirmer',
  qr: 'Code QR',
  qrText: 'Ouvre cet appareil sur un autre téléphone. Imprimez-le et collez-le sur le boîtier.',
  noSensor: 'Ajoutez d’abord un capteur. Les lignes apparaîtront ici.',
  keyNeeded: 'Les lignes s’affichent avec une clé, prêtes à l’emploi.',
  board: 'Carte',
  wifi: 'Nom de votre Wi-Fi',
  wifiPassword: 'Son mot de passe',
  wifiHint: 'Les deux restent sur cette page. Ils ne vont que dans les lignes.',
  wifiFirst: 'Saisissez le nom de votre Wi-Fi. Les lignes apparaîtront ensuite ici.',
  noHttps: 'Cette carte ne parle pas HTTPS : il lui faut une adresse du service en http://.',
  addSensor: 'Ajouter un capteur',
  loginForKey: 'Connectez-vous pour créer une clé : il en faut une pour envoyer.',
  byHand: 'À la main',
  handNone: 'Saisissez d’abord ce que vous avez lu.',
  handNumber: 'Ce capteur mesure des nombres : saisissez-en un, comme 12,5.',
  handBadTime: 'Cette heure n’existe pas.',
  handHint: 'Un nombre ou un mot.',
  handTime: 'Heure du relevé',
  handTimeHint: 'Vide : maintenant.',
  handSave: 'Enregistrer la valeur',
  handSaved: 'Valeur enregistrée',
  handKept: 'Pas de réseau : la valeur est gardée ici et envoyée à son retour.',
  handWaiting: {
    one: '{count} valeur attend le réseau.',
    other: '{count} valeurs attendent le réseau.',
  },
};
