/** How a device sends its values: lines to copy, a key, a QR code. */
export const send = {
  title: 'Send values',
  text: 'Copy these lines into what you build. The ids are those of this device already.',
  sensor: 'Sensor',
  way: 'With',
  public: 'This device is public: anybody who knows its id may send values to it.',
  private:
    'This device is private: sending needs a key. It does not expire, and may do nothing else.',
  granted:
    'Everybody sees this device, but sending needs a key. It does not expire, and may do ' +
    'nothing else.',
  makeKey: 'Make a key for this device',
  keyName: 'device {name}',
  keyMade: 'The key is in the lines below. It is shown this once: copy them now.',
  qr: 'QR code',
  qrText: 'Opens this device on another phone. Print it and stick it on the box.',
  noSensor: 'Add a sensor first; then the lines are here.',
  keyNeeded: 'The lines are shown with a key in them, so that they work as they are.',
  board: 'Board',
  wifi: 'Name of your Wi-Fi',
  wifiPassword: 'Its password',
  wifiHint: 'Both stay on this page: they go into the lines.',
  noHttps:
    'This board cannot speak HTTPS: it needs an address of the service that begins with ' +
    'http://.',
  addSensor: 'Add a sensor',
  loginForKey: 'Log in to make a key: sending to this device needs one.',
} as const;
