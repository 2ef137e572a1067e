import type { Translation } from '../dictionary.ts';

/** A first device in three steps. */
export const start: Translation<'start'> = {
  title: 'Nouvel appareil',
  step: 'Étape {count} sur 3',
  nameTitle: 'Qu’est-ce que c’est ?',
  name: 'Nom',
  nameHint: 'Comme vous l’appelleriez : Champ 3, réservoir de l’école.',
  id: 'Identifiant',
  idHint: 'Le nom que l’appareil se donne quand il envoie. Il ne peut plus être changé.',
  taken: 'Un appareil a déjà cet identifiant. Choisissez-en un autre.',
  next: 'Suivant',
  back: 'Retour',
  sensorsTitle: 'Que mesure-t-il ?',
  sensorsHint: 'Touchez tout ce qui convient. Vous pourrez en ajouter et les changer plus tard.',
  airTemperature: 'Température de l’air',
  airHumidity: 'Humidité de l’air',
  soilMoisture: 'Humidité du sol',
  soilTemperature: 'Température du sol',
  waterLevel: 'Niveau d’eau',
  waterTemperature: 'Température de l’eau',
  rain: 'Pluie',
  light: 'Lumière',
  battery: 'Batterie',
  switch: 'Allumé ou éteint',
  other: 'Autre chose',
  otherName: 'Son nom',
  create: 'Créer l’appareil',
  sendTitle: 'Envoyez la première valeur',
  waiting: 'En attente de la première valeur…',
  arrivedText: 'Votre appareil est prêt.',
  see: 'Voir l’appareil',
  later: 'Je le ferai plus tard',
  idTaken: '{id} est déjà pris. {free} est libre.',
  useFree: 'Prendre {id}',
  several: 'Plusieurs du même genre',
  howMany: 'Combien',
  howManyHint: 'Ils sont numérotés : {first} à {last}.',
  howManyBad: 'Un nombre entier de 1 à 50.',
  made: { one: '{count} appareil est créé', other: '{count} appareils sont créés' },
  madeSome:
    '{made} sur {count} sont créés, puis cela s’est interrompu. Réessayez : ceux-là ne ' +
    'seront pas créés deux fois.',
  whichLines: 'Lignes pour',
  noSensorYet: 'Il ne mesure encore rien. Dites ce qu’il mesure, et les lignes d’envoi seront ici.',
  addThese: 'Les ajouter',
  nothing: 'Rien ne vient ?',
  whyLocal:
    'Les lignes disent {host}, et chaque machine s’appelle ainsi. Sur une autre machine, ' +
    'ouvrez cette page par le nom ou l’adresse de celle-ci, et copiez les lignes à nouveau.',
  whyText:
    'Regardez la réponse que reçoit votre appareil : curl et Python l’affichent, Arduino ' +
    'l’écrit dans le moniteur série.',
  why401: 'La clé manque, ou une de ses lettres. Créez-en une nouvelle ci-dessus.',
  why403: 'La clé est celle d’un autre appareil.',
  why404:
    'L’identifiant de l’appareil ou du capteur s’écrit autrement. Majuscules et minuscules ' +
    'comptent.',
  why400: 'La valeur est illisible. Les décimales ont un point, et un texte est entre guillemets.',
  why429: 'Il envoie trop souvent. Attendez aussi longtemps que le dit la réponse.',
  noAnswer: 'pas de réponse',
  whyNoAnswer: 'Votre appareil n’atteint pas {origin}. Est-il dans le même réseau ?',
};
