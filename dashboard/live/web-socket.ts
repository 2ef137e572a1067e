import type { Socket, SocketEvents } from './connection.ts';

/** The address of the service's MQTT door, seen from a page: same host, same port. */
export function liveUrl({ protocol, host }: { protocol: string; host: string }): string {
  return `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}/websocket`;
}

/** Opens a WebSocket that carries MQTT. A browser that refuses it reports it as closed. */
export function openWebSocket(url: string, events: SocketEvents): Socket {
  let socket: WebSocket | undefined;
  let hasClosed = false;
  const closed = (): void => {
    if (hasClosed) return;
    hasClosed = true;
    events.closed();
  };
  try {
    socket = new WebSocket(url, 'mqtt');
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => events.opened();
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof ArrayBuffer) events.received(new Uint8Array(data));
      else closed();
    };
    socket.onclose = closed;
  } catch {
    // Whoever asked is told after it has got its socket.
    queueMicrotask(closed);
  }
  return {
    send: (bytes) => socket?.send(bytes),
    close: () => {
      // The owner has turned away: late events are nobody's.
      hasClosed = true;
      socket?.close();
    },
  };
}
