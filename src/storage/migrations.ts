import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A numbered step from one version of the tables to the next. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const fileName = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Makes the reader of the migrations in the folder beside a module, in order. */
export const migrationsBeside =
  (module: string) =>
  (directory = fileURLToPath(new URL('./migrations/', module))): readonly Migration[] => {
    const names = readdirSync(directory).filter((name) => name.endsWith('.sql'));
    return names.sort().map((name, index) => {
      const version = Number(fileName.exec(name)?.[1]);
      if (version !== index + 1) throw new Error(`migration ${name} must have number ${index + 1}`);
      return { version, name, sql: readFileSync(`${directory}/${name}`, 'utf8') };
    });
  };
