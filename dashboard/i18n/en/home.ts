import { home as first } from './first/home.ts';

/** The list of devices. */
export const home = {
  ...first,
  domain: 'Field of use',
  gateway: 'Gateway',
  visibility: 'Who can see it',
  any: 'any',
  private: 'only me and people I chose',
  public: 'everybody',
} as const;
