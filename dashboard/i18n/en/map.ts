import { map as first } from './first/map.ts';

/** Maps and places. */
export const map = {
  ...first,
  label: 'Map of {count} places',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  cluster: { one: '{count} device here', other: '{count} devices here' },
  fresh: 'fresh',
  stale: 'silent',
  alert: 'alert',
  off: 'off',
  open: 'Open',
  hereIAm: 'Where I am now',
  searching: 'Looking for your position…',
  lake: 'Lake {name}',
  search: 'Town, lake or country',
  notFound: 'No place of that name is known here.',
  positionFailed: 'Your position could not be found.',
  positionRefused: 'The browser is not allowed to give your position. Allow it, and try again.',
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
