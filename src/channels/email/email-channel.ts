import { connect, type Socket } from 'node:net';
import type { Options } from 'nodemailer/lib/smtp-transport';
import type { Channel, Outcome } from '../../domain/notifications/channel.ts';
import { isMailAddress } from '../../lib/mail-address.ts';
import { channelLimits } from '../limits.ts';
import { refused, retry } from '../outcome.ts';
import type { EmailSettings } from '../provider-settings.ts';

/** E-mail by one mail server, in plain text; each message has a connection of its own. */
export async function createEmailChannel(parts: {
  readonly settings: EmailSettings;
}): Promise<Channel> {
  const { settings } = parts;
  const { createTransport } = await import('nodemailer');
  const domain = settings.from.split('@')[1] ?? 'localhost';

  function transportFor(signal: AbortSignal) {
    const { host, port, security, login } = settings;
    const options: Options & { readonly maxResponseSize: number } = {
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'plain',
      ...(login !== undefined && { auth: login }),
      getSocket: (_options, give) => {
        openSocket(host, port, signal).then(
          (connection) => give(null, { connection }),
          (error: Error) => give(error, false),
        );
      },
      connectionTimeout: channelLimits.emailMs,
      greetingTimeout: channelLimits.emailMs,
      socketTimeout: channelLimits.emailMs,
      // The text comes from sensors and users: it must never make the server read a file or URL.
      disableFileAccess: true,
      disableUrlAccess: true,
      maxResponseSize: channelLimits.answerBytesMax,
      logger: false,
    };
    return createTransport(options);
  }

  return {
    async send(message, signal) {
      const { email } = message.to;
      if (email === undefined) return refused('the profile has no e-mail address');
      if (!isMailAddress(email)) return refused('the e-mail address of the profile is not valid');
      const text = message.text.toWellFormed();
      const transport = transportFor(signal);
      try {
        await transport.sendMail({
          from: { name: settings.senderName, address: settings.from },
          to: { name: '', address: email },
          subject: subjectOf(text),
          text,
          // The same for every try, so that mail programs show a repeated message once.
          messageId: `<${message.deliveryId.replace(/[^\w.-]/g, '')}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        });
        return { kind: 'sent' };
      } catch (error) {
        return signal.aborted ? retry('the mail server did not answer in time') : outcomeOf(error);
      } finally {
        transport.close();
      }
    },
  };
}

/** A connection that ends at the signal; what it is used for cannot be called off otherwise. */
function openSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const stop = () => socket.destroy();
    // The user of the socket learns of its end; without a listener an error would be thrown.
    socket.on('error', () => undefined);
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('called off')));
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    if (signal.aborted) stop();
  });
}

const subjectCharactersMax = 120;

/** The first line, as far as a list of messages shows it. */
function subjectOf(text: string): string {
  const line =
    text
      .replace(/\p{Cc}+/gu, '\n')
      .trim()
      .split('\n')[0] ?? '';
  const letters = [...line];
  const isLong = letters.length > subjectCharactersMax;
  return isLong ? `${letters.slice(0, subjectCharactersMax - 1).join('')}…` : line || 'Kipimo';
}

/** Replies of 5xx are for good, except those about the login [RFC 5321 4.2.1; RFC 4954]. */
function outcomeOf(error: unknown): Outcome {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    return retry('the mail server does not accept the login: the administrator must check it');
  }
  if (code === 'ETLS') return retry('the mail server offers no safe connection');
  if (typeof responseCode === 'number') {
    if (responseCode === 530 || responseCode === 535) {
      return retry('the mail server asks for another login: the administrator must check it');
    }
    return responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE')
      ? refused(`the mail server refuses the address or message (${responseCode})`)
      : retry(`the mail server asks to come back later (${responseCode})`);
  }
  if (code === 'ETIMEDOUT') return retry('the mail server did not answer in time');
  const shown = typeof code === 'string' && /^[A-Z_]{2,30}$/.test(code) ? ` (${code})` : '';
  return retry(`the mail server could not be reached${shown}`);
}
