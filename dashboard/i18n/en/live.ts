/** The state of the live connection. */
export const live = {
  live: 'live',
  connecting: 'connecting…',
  offline: 'offline',
  polling: 'every 15 s',
  liveHint: 'New values appear by themselves.',
  connectingHint: 'Trying to reach the service.',
  offlineHint: 'No connection: these are the last values we know.',
  pollingHint: 'No live connection: new values are fetched every 15 s.',
} as const;
