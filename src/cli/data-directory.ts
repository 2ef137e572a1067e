import { loadConfigHere } from '../config/environment-file.ts';

/** The data directory that a command names, or that of the settings; throws where there is none. */
export function directoryOf(options: { readonly dataDir?: string }): string {
  if (options.dataDir !== undefined) return options.dataDir;
  const { engine, directory } = loadConfigHere().config.storage;
  if (engine === 'sqlite') return directory;
  throw new Error('KIPIMO_DATABASE_URL names no SQLite database: name one with --data-dir');
}
