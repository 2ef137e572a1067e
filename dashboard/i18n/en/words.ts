import { common as first } from './first/words.ts';

/** Words that many screens share. */
export const common = {
  ...first,
  save: 'Save',
  delete: 'Delete',
  edit: 'Edit',
  add: 'Add',
  back: 'Back',
  more: 'More',
  search: 'Search',
  undo: 'Undo',
  copy: 'Copy',
  copied: 'Copied',
  yes: 'Yes',
  no: 'No',
  nothing: 'none',
  sensors: { one: '{count} sensor', other: '{count} sensors' },
} as const;
