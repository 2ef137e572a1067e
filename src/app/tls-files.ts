import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ListenConfig } from '../config/config.ts';
import type { Log } from '../lib/log.ts';
import type { TlsPair, TlsSource } from '../lib/tls-source.ts';

/** PEM files of a certificate chain and its key. */
type TlsFiles = NonNullable<ListenConfig['tls']>;

// Polled, because renewal tools replace the files by renaming or by moving a link.
const pollMs = 5_000;

/** Reads a certificate, and its renewals until it is closed. Throws when it cannot be read now. */
export function watchTlsFiles(files: TlsFiles, log: Log): TlsSource & { close(): void } {
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
  const cert = readNamed('KIPIMO_TLS_CERT', files.certFile);
  const key = readNamed('KIPIMO_TLS_KEY', files.keyFile);
  usable(`KIPIMO_TLS_CERT: ${files.certFile} holds no certificate in PEM form`, { cert });
  usable(`KIPIMO_TLS_KEY: ${files.keyFile} holds no private key in PEM form`, { key });
  const both = `KIPIMO_TLS_KEY: ${files.keyFile} is not the key of the certificate`;
  usable(`${both} of KIPIMO_TLS_CERT, ${files.certFile}`, { cert, key });
  return { cert, key };
}

function readNamed(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${setting}: ${file} cannot be read (${reason})`, { cause });
  }
}

/** Throws the sentence when TLS cannot use these. */
function usable(sentence: string, part: { readonly cert?: Buffer; readonly key?: Buffer }): void {
  try {
    createSecureContext(part);
  } catch (cause) {
    throw new Error(sentence, { cause });
  }
}
