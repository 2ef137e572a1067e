/** Words of home and of dialogs over any screen; the rest comes with the first other screen. */
export const common = {
  pair: '{name}: {value}',
  loading: 'Loading…',
  retry: 'Try again',
  cancel: 'Cancel',
  close: 'Close',
  on: 'on',
  off: 'off',
  devices: { one: '{count} device', other: '{count} devices' },
} as const;
