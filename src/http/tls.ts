import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Log } from '../lib/log.ts';

/** PEM files of a certificate chain and its key. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface TlsContext {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface WatchedTls {
  readonly context: TlsContext;
  /** Calls back with the new pair whenever the files change and fit together. */
  onChange(listener: (context: TlsContext) => void): void;
  close(): void;
}

// Polled, because renewal tools replace the files by renaming or by moving a link.
const pollMs = 5_000;

/** Reads a certificate and watches for its renewal. Throws when it cannot be read at first. */
export function watchTlsFiles(files: TlsFiles, log: Log): WatchedTls {
  const paths = [files.certFile, files.keyFile];
  const listeners: ((context: TlsContext) => void)[] = [];

  function reload(): void {
    try {
      const context = readContext(files);
      for (const listener of listeners) listener(context);
      log.info({ certFile: files.certFile }, 'the certificate was reloaded');
    } catch (error) {
      // Half of a pair was written; the other half will wake us again.
      log.warn({ error, certFile: files.certFile }, 'the changed certificate cannot be used yet');
    }
  }

  const context = readContext(files);
  for (const path of paths) watchFile(path, { interval: pollMs, persistent: false }, reload);
  return {
    context,
    onChange: (listener) => {
      listeners.push(listener);
    },
    close: () => {
      for (const path of paths) unwatchFile(path, reload);
    },
  };
}

function readContext(files: TlsFiles): TlsContext {
  const context = { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
  // Refuses a key that does not belong to the certificate.
  createSecureContext(context);
  return context;
}
