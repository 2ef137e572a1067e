import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'esbuild-wasm';
import { createWorldOutline } from './world-outline.ts';

const placesFile = resolve(import.meta.dirname, '../dashboard/map/world-places.txt');

/** What maps need of the world, as code, by the names under which the dashboard imports it. */
const modules = new Map([
  [
    'kipimo:world-outline',
    // Parsing a text as JSON is several times faster than running it as a script.
    () => `export const outline = JSON.parse(${JSON.stringify(createWorldOutline())});`,
  ],
  [
    'kipimo:world-places',
    () => `export const text = ${JSON.stringify(readFileSync(placesFile, 'utf8'))};`,
  ],
]);

/** Lets the dashboard import what is made of data when it is built. */
export const worldData: Plugin = {
  name: 'world-data',
  setup(build) {
    build.onResolve({ filter: /^kipimo:world-/ }, ({ path }) => ({ path, namespace: 'world' }));
    build.onLoad({ filter: /.*/, namespace: 'world' }, ({ path }) => ({
      contents: modules.get(path)?.() ?? '',
      loader: 'js',
    }));
  },
};
