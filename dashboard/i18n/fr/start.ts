import type { Translation } from '../dictionary.ts';

/** A first device in three steps. */
export const start: Translation<'start'> = {
  title: 'Nouvel appareil',
  step: 'Étape {count} sur 3',
  nameTitle: 'Qu’est-ce que c’est ?',
  name: 'Nom',
  nameHint: 'Comme vous l’appelleriez : Champ 3, réservoir de l’école.',
  id: 'Identifiant',
  idHint: 'Un nom court, utilisé dans les adresses et le code. Il ne pourra plus être changé.',
  taken: 'Un appareil a déjà cet identifiant. Choisissez-en un autre.',
  next: 'Suivant',
  back: 'Retour',
  sensorsTitle: 'Que mesure-t-il ?',
  sensorsHint: 'Touchez tout ce qui convient. Vous pourrez en ajouter et en changer plus tard.',
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
    '{made} sur {count} sont créés, puis la création a été interrompue. Réessayez : ' +
    'ceux-là ne seront pas créés deux fois.',
  whichLines: 'Lignes pour',
  noSensorYet:
    'Il ne mesure encore rien. Choisissez ce qu’il mesure ; les lignes apparaîtront ici.',
  addThese: 'Les ajouter',
  nothing: 'Rien n’arrive ?',
  whyLocal:
    'Les lignes indiquent {host}, un nom que chaque ordinateur se donne à lui-même. Pour ' +
    'une autre machine, ouvrez cette page par le nom ou l’adresse de cet ordinateur, et ' +
    'copiez les lignes à nouveau.',
  whyText:
    'Regardez la réponse que reçoit votre appareil : curl et Python l’affichent, Arduino ' +
    'l’écrit dans le moniteur série.',
  why401: 'La clé manque ou est incomplète. Créez-en une nouvelle ci-dessus.',
  why403: 'La clé est celle d’un autre appareil.',
  why404:
    'L’identifiant de l’appareil ou du capteur s’écrit autrement. Les majuscules ' + 'comptent.',
  why400:
    'La valeur est illisible. Écrivez les décimales avec un point, et le texte entre ' +
    'guillemets.',
  why429: 'Il envoie trop souvent. Attendez le temps que la réponse indique.',
  noAnswer: 'pas de réponse',
  whyNoAnswer: 'Votre appareil n’atteint pas {origin}. Est-il sur le même réseau ?',
};
