import type { Translation } from '../dictionary.ts';

/** Words that many screens share. */
export const common: Translation<'common'> = {
  pair: '{name}: {value}',
  loading: 'Inapakia…',
  retry: 'Jaribu tena',
  cancel: 'Ghairi',
  close: 'Funga',
  save: 'Hifadhi',
  delete: 'Futa',
  edit: 'Hariri',
  add: 'Ongeza',
  back: 'Rudi',
  more: 'Zaidi',
  search: 'Tafuta',
  undo: 'Tendua',
  copy: 'Nakili',
  copied: 'Imenakiliwa',
  yes: 'Ndiyo',
  no: 'Hapana',
  on: 'imewashwa',
  off: 'imezimwa',
  nothing: 'hakuna',
  devices: { one: 'kifaa {count}', other: 'vifaa {count}' },
  sensors: { one: 'kihisi {count}', other: 'vihisi {count}' },
};
