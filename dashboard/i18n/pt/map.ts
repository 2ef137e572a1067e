import type { Translation } from '../dictionary.ts';

/** Maps and places. */
export const map: Translation<'map'> = {
  title: 'Mapa',
  label: 'Mapa de {count} lugares',
  loading: 'O mapa está a ser desenhado…',
  failed: 'Não foi possível carregar o mapa.',
  zoomIn: 'Ampliar',
  zoomOut: 'Reduzir',
  cluster: { one: '{count} dispositivo aqui', other: '{count} dispositivos aqui' },
  withoutPlace: {
    one: '{count} dispositivo ainda não tem lugar',
    other: '{count} dispositivos ainda não têm lugar',
  },
  nobody: 'Aqui ainda nada tem lugar.',
  fresh: 'em dia',
  stale: 'em silêncio',
  alert: 'alerta',
  off: 'desligado',
  open: 'Abrir',
  pick: 'Toque no mapa onde está o dispositivo, ou escreva as coordenadas.',
  latitude: 'Latitude',
  longitude: 'Longitude',
  latitudeBad: 'A latitude é um número de -90 a 90.',
  longitudeBad: 'A longitude é um número de -180 a 180.',
  hereIAm: 'Onde estou agora',
  hereFailed: 'Não foi possível encontrar a sua posição. Escreva-a, ou toque no mapa.',
  hereRefused:
    'O navegador não pode indicar a sua posição. Autorize-o, escreva-a, ou toque no mapa.',
  searching: 'A procurar a sua posição…',
  remove: 'Retirar o lugar',
  lake: 'Lago {name}',
  search: 'Cidade, lago ou país',
  notFound: 'Aqui não se conhece nenhum lugar com esse nome.',
  positionFailed: 'Não foi possível encontrar a sua posição.',
  positionRefused: 'O navegador não pode indicar a sua posição. Autorize-o e tente de novo.',
  picked: 'Escolhido: {latitude}, {longitude}',
};
