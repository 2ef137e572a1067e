import type { WebSocket } from 'ws';
import { limits } from '../domain/limits.ts';
import type { Broker } from './broker.ts';
import type { Transport } from './transport.ts';

const unsupportedData = 1003;
const normalClosure = 1000;

/** Joins a WebSocket to the broker; packets may begin and end anywhere in its messages. */
export function attachWebSocket(options: {
  readonly broker: Broker;
  readonly webSocket: WebSocket;
  readonly address: string;
}): void {
  const { broker, webSocket, address } = options;
  const transport = webSocketTransport(webSocket, () => receiver.drained());
  const receiver = broker.accept(transport, address);
  webSocket.on('message', (data, isBinary) => {
    // [MQTT-6.0.0-1]
    if (!isBinary) webSocket.close(unsupportedData, 'MQTT is binary');
    else if (data instanceof Uint8Array) receiver.receive(data);
  });
  // Whoever wants to know is told by 'close', which follows.
  webSocket.on('error', () => undefined);
  webSocket.on('close', () => receiver.closed());
}

function webSocketTransport(webSocket: WebSocket, drained: () => void): Transport {
  let isEnding = false;
  const sent = (): void => {
    if (webSocket.bufferedAmount === 0) drained();
  };
  return {
    write(bytes) {
      if (!isEnding && webSocket.readyState === webSocket.OPEN) {
        webSocket.send(bytes, { binary: true }, sent);
      }
    },
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
    end() {
      if (isEnding) return;
      isEnding = true;
      webSocket.close(normalClosure);
      const impatience = setTimeout(() => webSocket.terminate(), limits.goodbyeMs);
      impatience.unref();
      webSocket.once('close', () => clearTimeout(impatience));
    },
    destroy: () => webSocket.terminate(),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
  };
}
