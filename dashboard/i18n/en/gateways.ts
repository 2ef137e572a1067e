/** Gateways: being heard from, devices, adding one. */
export const gateways = {
  one: 'Gateway',
  none: 'You have no gateways yet',
  noneText:
    'A gateway passes on the values of devices that have no internet of their own. It ' +
    'shows here too.',
  add: 'Add a gateway',
  kit: 'My kit is a gateway',
  kitText: 'Does it pass on the values of other devices, by LoRa for instance?',
  what:
    'A gateway sends the values of devices that have no internet of their own. Its id is ' +
    'the name by which it reports here: it stands on its label, or on the settings page of ' +
    'the gateway itself.',
  setUp: 'Set up gateway {id}',
  setUpText: 'Type this into the settings of the gateway. It makes its devices here by itself.',
  keyText:
    'As the password, the gateway needs a key. A key can be ended alone, and your own ' +
    'password stays with you.',
  keyMake: 'Make a key for this gateway',
  waiting: 'Waiting for the gateway…',
  waitingValue: 'The gateway was heard. Waiting for the first value of one of its devices…',
  ready: 'Your gateway is ready. {name}:',
  see: 'See the gateway',
  id: 'Id of the gateway',
  idHint: 'The id that the gateway itself uses, for instance on its label.',
  idBad: 'An id has no spaces and none of & ? / # + < > " \' = ; ( ) % \\',
  name: 'Name',
  connected: 'connected',
  lastSeen: 'last seen {age}',
  neverSeen: 'never seen',
  week: 'Heard from in the last 7 days',
  weekIs: 'In the last 7 days {name} was silent for {hours} of {all} hours.',
  weekFull: 'In the last 7 days {name} was heard from all the time.',
  weekNothing: 'Nothing was heard from {name} in the last 7 days.',
  heard: 'heard',
  silent: 'silent',
  notYet: 'not there yet',
  noDevices: 'No device is connected through this gateway.',
  delete: 'Delete this gateway',
  deleteText: '{name} is deleted. Its devices and their data stay.',
  saved: 'Gateway saved',
  deleted: 'Gateway deleted',
  all: 'All gateways',
  place: 'Where it stands',
  owner: 'belongs to {name}',
} as const;
