import Type, { type Static } from 'typebox';
import type { Location } from '../domain/devices/device.ts';
import { invalid } from '../domain/errors.ts';
import { createReader } from './validation.ts';

export const LocationMessage = Type.Object(
  {
    latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north.' }),
    longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east.' }),
  },
  { title: 'Location', description: 'Where the thing stands (WGS 84).' },
);

const readLocation = createReader(LocationMessage, 'location');

export function locationFromWire(message: Static<typeof LocationMessage>): Location {
  return { latitude: message.latitude, longitude: message.longitude };
}

/** A location from a bare value: a JSON object, or the text `latitude,longitude` [contract 5]. */
export function parseLocation(value: unknown): Location {
  return locationFromWire(readLocation(typeof value === 'string' ? fromText(value) : value));
}

function fromText(text: string): Location {
  const match =
    /^\s*([-+]?\d{1,3}(?:\.\d{1,20})?)\s*[,;\s]\s*([-+]?\d{1,3}(?:\.\d{1,20})?)\s*$/.exec(text);
  if (match === null) {
    throw invalid('location must be a JSON object or the text latitude,longitude such as 5.6,-0.2');
  }
  return { latitude: Number(match[1]), longitude: Number(match[2]) };
}
