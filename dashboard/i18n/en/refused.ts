/** What was sent to a device and refused; the names are those of the problems of the API. */
export const refused = {
  title: 'This came, and was refused',
  times: { one: '{count} time', other: '{count} times' },
  no_key: 'It came without a key. Copy the lines with their key, or make a key above.',
  wrong_key:
    'The key is wrong: a letter is missing, or the key was deleted. Make a new one ' + 'above.',
  not_allowed: 'The key belongs to another device or account, or may not send. Make one above.',
  unknown_device:
    'It was sent to the device “{device}”, which is not there. This one is called ' + '“{own}”.',
  unknown_sensor:
    'It was sent to the sensor “{sensor}”, which is not there. This device has: ' + '{sensors}.',
  wrong_path:
    'It was sent to an address or topic that does not exist here. Compare it with the ' +
    'lines above, letter by letter.',
  unreadable: 'The value cannot be read. Write decimals with a point, and text between quotes.',
  clock_ahead:
    'The time in it is more than a day ahead. Set the clock of the device, or send no ' + 'time.',
  too_large: 'What was sent is too large.',
  too_often:
    'It sends too often, or tried to log in too often. Wait a minute, then send less ' + 'often.',
  no_room: 'There is no room left for it. Delete something, or ask an administrator.',
  unavailable: 'The service could not store it just then. The device should send it again.',
  elements: 'Of several values in one message these were refused; the others were stored:',
  element: 'No. {place}: {excerpt}',
  addSensor: 'Add a sensor',
} as const;
