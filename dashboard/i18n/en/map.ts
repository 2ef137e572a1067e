import { map as first } from './first/map.ts';

/** Maps and places. */
export const map = {
  ...first,
  title: 'Map',
  loading: 'The map is being drawn…',
  pick: 'Tap the map where the device stands, or type its coordinates.',
  latitude: 'Latitude',
  longitude: 'Longitude',
  latitudeBad: 'The latitude is a number from -90 to 90.',
  longitudeBad: 'The longitude is a number from -180 to 180.',
  hereFailed: 'Your position could not be found. Type it, or tap the map.',
  hereRefused:
    'The browser is not allowed to give your position. Allow it, type it, or tap the map.',
  remove: 'Remove the place',
  picked: 'Picked: {latitude}, {longitude}',
} as const;
