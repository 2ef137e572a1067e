/** How a device sends its values: lines to copy, a key, a QR code. */
export const send = {
  title: 'Send values',
  text:
    'Copy these lines into your program, with the ids of this device in them, or type a ' +
    'value by hand.',
  sensor: 'Sensor',
  way: 'With',
  public: 'This device is public: anybody who knows its id may send values to it.',
  private:
    'This device is private: sending needs a key. It does not expire, and is good for this ' +
    'device alone.',
  granted:
    'Everybody sees this device, but sending needs a key. It does not expire, and is good for ' +
    'this device alone.',
  makeKey: 'Make a key for this device',
  keyName: 'device {name}',
  keyMade: 'The key is in the lines below. It is shown only this once: copy them now.',
  keyListens:
    'For the controls of this device, a key made here hears their settings and confirms ' + 'them.',
  listen: 'What {name} is set to',
  listenText: 'By MQTT, this shows each setting of {name} as it comes:',
  control: 'Control',
  askText: 'This asks what {name} is set to:',
  pythonListens:
    'This program, with the package paho-mqtt, hears each setting of {name} and confirms it:',
  sketchListens:
    'The sketch above sends the value, hears what {name} is set to, and confirms it. It needs ' +
    'the library PubSubClient (Tools, Manage Libraries).',
  confirmText: 'When the board has done it, it says so with this:',
  confirm: 'Confirm',
  qr: 'QR code',
  qrText: 'Opens this device on another phone. Print it and stick it on the box.',
  noSensor: 'Add a sensor first. Then the lines appear here.',
  keyNeeded: 'The lines appear with a key in them, ready to use.',
  board: 'Board',
  wifi: 'Name of your Wi-Fi',
  wifiPassword: 'Its password',
  wifiHint: 'Both stay on this page. They only go into the lines.',
  wifiFirst: 'Type the name of your Wi-Fi. Then the lines appear here.',
  noHttps:
    'This board cannot speak HTTPS: it needs an address of the service that begins with ' +
    'http://.',
  addSensor: 'Add a sensor',
  loginForKey: 'Log in to make a key: sending to this device needs one.',
  byHand: 'By hand',
  handNone: 'Type what you read first.',
  handNumber: 'This sensor measures numbers: type one, such as 12.5.',
  handBadTime: 'This time makes no sense.',
  handHint: 'A number or a word.',
  handTime: 'When it was read',
  handTimeHint: 'Empty: now.',
  handSave: 'Save the value',
  handSaved: 'Saved',
  handKept: 'There is no network: the value is kept here and sent when it is back.',
  handWaiting: {
    one: '{count} value waits for the network.',
    other: '{count} values wait for the network.',
  },
} as const;
