import Type from 'typebox';
import { limits } from '../../domain/limits.ts';
import type { AddressProving } from '../../domain/users/address-proving.ts';
import { createReader } from '../../wire/validation.ts';
import { defineCommand, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';

const tag = 'Users';

const AddressMessage = Type.Object({
  channel: Type.String({ description: 'email, phone, sms or voice.', examples: ['email'] }),
  address: Type.String({
    maxLength: limits.nameCharactersMax,
    description: 'As it is in the profile.',
    examples: ['ama@example.org'],
  }),
});

const CodeMessage = Type.Object({
  ...AddressMessage.properties,
  code: Type.String({ maxLength: 64, description: 'As it was sent.', examples: ['7KQ2-M9XD'] }),
});

/** Proving that an e-mail address or phone number reaches its user [contract 14]. */
export function addressRoutes(proving: AddressProving): readonly Route[] {
  return [
    defineCommand({
      method: 'POST',
      path: '/users/me/addresses/prove',
      tag,
      summary: 'Have a code sent to an e-mail address or phone number of your profile',
      body: jsonBody(AddressMessage, createReader(AddressMessage, 'address')),
      done: 'A code was sent, or the address is proven already.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'rate_limited', 'unavailable'],
      perform: ({ actor, body, address, headers }) =>
        proving.request(actor, body, { address, languages: headers['accept-language'] }),
    }),
    defineCommand({
      method: 'POST',
      path: '/users/me/addresses/confirm',
      tag,
      summary: 'Prove the address with the code that was sent to it',
      body: jsonBody(CodeMessage, createReader(CodeMessage, 'code')),
      done: 'The address is proven.',
      errors: ['invalid', 'unauthenticated', 'forbidden'],
      perform: ({ actor, body }) => proving.confirm(actor, body),
    }),
  ];
}
