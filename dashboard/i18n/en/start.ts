/** A first device in three steps. */
export const start = {
  title: 'New device',
  step: 'Step {count} of 3',
  nameTitle: 'What is it?',
  name: 'Name',
  nameHint: 'As you would call it: Field 3, tank of the school.',
  id: 'Id',
  idHint: 'A short name used in addresses and code. It cannot be changed later.',
  taken: 'There is a device with this id already. Choose another one.',
  next: 'Next',
  back: 'Back',
  sensorsTitle: 'What does it measure?',
  sensorsHint: 'Tap all that apply. You can add others and change them later.',
  other: 'Something else',
  otherName: 'Its name',
  create: 'Create the device',
  sendTitle: 'Send the first value',
  waiting: 'Waiting for the first value…',
  arrivedText: 'Your device is ready.',
  see: 'See the device',
  later: 'I will do this later',
  idTaken: '{id} is taken. {free} is free.',
  useFree: 'Use {id}',
  several: 'Several of the same kind',
  howMany: 'How many',
  howManyHint: 'They are numbered: {first} to {last}.',
  howManyBad: 'A whole number from 1 to 50.',
  made: {
    one: '{count} device is created',
    other: '{count} devices are created',
  },
  madeSome:
    '{made} of {count} are created, then it was interrupted. Try again: these are not ' +
    'created twice.',
  whichLines: 'Lines for',
  noSensorYet: 'It measures nothing yet. Choose what it measures, then the lines appear here.',
  addThese: 'Add these',
  nothing: 'Nothing comes?',
  whyLocal:
    'The lines say {host}, a name that every computer uses for itself. For another ' +
    'machine, open this page by the name or address of this computer, and copy the lines ' +
    'again.',
  whyText:
    'Look at the answer that your device gets: curl and Python print it, Arduino writes ' +
    'it to the serial monitor.',
  why401: 'The key is missing or incomplete. Make a new one above.',
  why403: 'The key belongs to another device.',
  why404:
    'The id of the device or the sensor is spelled differently. Capital and small ' +
    'letters are not the same.',
  why400: 'The value cannot be read. Write decimals with a point, and text between quotes.',
  why429: 'It sends too often. Wait as long as the answer says.',
  noAnswer: 'no answer',
  whyNoAnswer: 'Your device cannot reach {origin}. Is it on the same network?',
} as const;
