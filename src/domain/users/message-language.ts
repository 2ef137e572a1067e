import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';

/** Says what the service itself writes to people, by e-mail, text message or call. */
interface MessageWords {
  readonly newPassword: (username: string, code: string) => string;
  /** In letters of the GSM alphabet: others make a text message longer, and dearer. */
  readonly proof: (username: string, code: string) => string;
  readonly test: (username: string) => string;
}

const resetMinutes = limits.passwordResetMs / 60_000;
const proofMinutes = limits.addressCodeMs / 60_000;

const english: MessageWords = {
  newPassword: (username, code) =>
    `Somebody asked for a new password for the account ${username}.\n\n` +
    `The code is ${code}. It can be used once, within ${resetMinutes} minutes.\n\n` +
    'If it was not you, there is nothing to do: the password stays as it is.\n',
  proof: (username, code) =>
    `${code} is the code by which the account ${username} proves this address. It can be used ` +
    `within ${proofMinutes} minutes. If you did not ask for it, do nothing.\n`,
  test: (username) => `This is a test message of Kipimo to ${username}.`,
};

const languages: ReadonlyMap<string, MessageWords> = new Map([
  ['en', english],
  [
    'fr',
    {
      newPassword: (username, code) =>
        `Quelqu’un a demandé un nouveau mot de passe pour le compte ${username}.\n\n` +
        `Le code est ${code}. Il sert une seule fois, pendant ${resetMinutes} minutes.\n\n` +
        'Si ce n’était pas vous, il n’y a rien à faire : le mot de passe reste le même.\n',
      proof: (username, code) =>
        `${code} est le code qui confirme cette adresse pour le compte ${username}. Il sert ` +
        `pendant ${proofMinutes} minutes. Si vous ne l'avez pas demandé, ne faites rien.\n`,
      test: (username) => `Ceci est un message d'essai de Kipimo pour ${username}.`,
    },
  ],
  [
    'sw',
    {
      newPassword: (username, code) =>
        `Mtu ameomba nenosiri jipya la akaunti ${username}.\n\n` +
        `Msimbo ni ${code}. Unatumika mara moja tu, ndani ya dakika ${resetMinutes}.\n\n` +
        'Kama si wewe, usifanye chochote: nenosiri linabaki lilivyo.\n',
      proof: (username, code) =>
        `${code} ni msimbo wa kuthibitisha anwani hii kwa akaunti ${username}. Unatumika ndani ` +
        `ya dakika ${proofMinutes}. Kama hukuuomba, usifanye chochote.\n`,
      test: (username) => `Huu ni ujumbe wa majaribio wa Kipimo kwa ${username}.`,
    },
  ],
  [
    'pt',
    {
      newPassword: (username, code) =>
        `Alguém pediu uma nova palavra-passe para a conta ${username}.\n\n` +
        `O código é ${code}. Serve uma só vez, durante ${resetMinutes} minutos.\n\n` +
        'Se não foi você, não é preciso fazer nada: a palavra-passe fica como está.\n',
      proof: (username, code) =>
        `${code} confirma este contacto para a conta ${username}, durante ${proofMinutes} ` +
        'minutos. Se o pedido foi de outra pessoa, ignore esta mensagem.\n',
      test: (username) => `Esta é uma mensagem de teste do Kipimo para ${username}.`,
    },
  ],
]);

/** More tags than any browser sends are not read. */
const tagsMax = 20;

/** The words of the first known language of an `Accept-Language` header; else English. */
export function messageWords(accepted: string | undefined): MessageWords {
  for (const tag of accepted?.split(',', tagsMax) ?? []) {
    const words = languages.get(/^\s*([a-z]{2})\b/i.exec(tag)?.[1]?.toLowerCase() ?? '');
    if (words !== undefined) return words;
  }
  return english;
}

/** The channels that codes are sent through. */
export type CodeChannel = 'email' | 'sms' | 'voice';

/** A message with a code, to one address of a user. */
export interface CodeMessage {
  readonly channel: CodeChannel;
  readonly username: Username;
  readonly address: string;
  readonly text: string;
  /** Network that asked for it: codes wait in a fair queue of networks. */
  readonly askedFrom: string;
}

/** Sends codes that people wait for. */
export interface CodeSender {
  /** The channels that are configured. */
  readonly channels: ReadonlySet<CodeChannel>;
  /** Resolves when the message left, or never will. */
  send(message: CodeMessage): Promise<void>;
}
