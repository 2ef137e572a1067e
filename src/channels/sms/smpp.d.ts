/** The part of the package smpp that is used; it brings no types of its own. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events';
  import type { Server as NetServer, Socket } from 'node:net';

  interface Pdu {
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    isResponse(): boolean;
    response(options?: Readonly<Record<string, unknown>>): Pdu;
    readonly [field: string]: unknown;
  }

  type Fields = Readonly<Record<string, unknown>>;
  type Answered = (answer: Pdu) => void;

  class Session extends EventEmitter {
    constructor(options: { readonly socket: Socket });
    /** Answers false, and calls nothing back, when the connection takes no more. */
    send(pdu: Pdu): boolean;
    bind_transmitter(fields: Fields, answered: Answered): boolean;
    submit_sm(fields: Fields, answered: Answered): boolean;
    enquire_link(fields: Fields, answered: Answered): boolean;
    unbind(): boolean;
    close(): void;
    destroy(): void;
  }

  function createServer(listener: (session: Session) => void): NetServer;
}
