import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Log } from './lib/log.ts';
import type { TlsPair, TlsSource } from './lib/tls-source.ts';

/** PEM files of a certificate chain and its key. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A source that reads files, and looks at them until it is closed. */
export interface WatchedTls extends TlsSource {
  close(): void;
}

// Polled, because renewal tools replace the files by renaming or by moving a link.
const pollMs = 5_000;

/** Reads a certificate and watches for its renewal. Throws when it cannot be read at first. */
export function watchTlsFiles(files: TlsFiles, log: Log): WatchedTls {
  const paths = [files.certFile, files.keyFile];
  const listeners: ((pair: TlsPair) => void)[] = [];

  function reload(): void {
    try {
      pair = readPair(files);
      for (const listener of listeners) listener(pair);
      log.info({ certFile: files.certFile }, 'the certificate was reloaded');
    } catch (error) {
      // Half of a pair was written; the other half will wake us again.
      log.warn({ error, certFile: files.certFile }, 'the changed certificate cannot be used yet');
    }
  }

  let pair = readPair(files);
  for (const path of paths) watchFile(path, { interval: pollMs, persistent: false }, reload);
  return {
    get pair() {
      return pair;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    close: () => {
      for (const path of paths) unwatchFile(path, reload);
    },
  };
}

function readPair(files: TlsFiles): TlsPair {
  const pair = { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
  // Refuses a key that does not belong to the certificate.
  createSecureContext(pair);
  return pair;
}
