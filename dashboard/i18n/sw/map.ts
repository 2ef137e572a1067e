import type { Translation } from '../dictionary.ts';

/** Maps and places. */
export const map: Translation<'map'> = {
  title: 'Ramani',
  label: 'Ramani ya mahali {count}',
  loading: 'Ramani inachorwa…',
  failed: 'Ramani haikuweza kupakiwa.',
  zoomIn: 'Karibu zaidi',
  zoomOut: 'Mbali zaidi',
  cluster: { one: 'Kifaa {count} hapa', other: 'Vifaa {count} hapa' },
  withoutPlace: {
    one: 'Kifaa {count} bado hakina mahali',
    other: 'Vifaa {count} bado havina mahali',
  },
  nobody: 'Bado hakuna chenye mahali hapa.',
  fresh: 'sawa',
  stale: 'kimya',
  alert: 'tahadhari',
  off: 'imezimwa',
  open: 'Fungua',
  pick: 'Gusa ramani mahali kifaa kilipo, au andika viwianishi vyake.',
  latitude: 'Latitudo',
  longitude: 'Longitudo',
  latitudeBad: 'Latitudo ni namba kuanzia -90 hadi 90.',
  longitudeBad: 'Longitudo ni namba kuanzia -180 hadi 180.',
  hereIAm: 'Mahali nilipo sasa',
  hereFailed: 'Mahali ulipo hapakupatikana. Andika, au gusa ramani.',
  hereRefused: 'Kivinjari hakiruhusiwi kutaja mahali ulipo. Kiruhusu, andika, au gusa ramani.',
  searching: 'Inatafuta mahali ulipo…',
  remove: 'Ondoa mahali',
  picked: 'Umechagua: {latitude}, {longitude}',
};
