/** Style sheets are imported for their effect; the build bundles them. */
declare module '*.css' {}

/** The coasts and borders of the world; made by scripts/world-outline.ts when this is built. */
declare module 'kipimo:world-outline' {
  export const outline: { readonly objects: { readonly countries: unknown } };
}

/** It comes without types; this is the part in use. */
declare module 'topojson-client' {
  export function feature(topology: unknown, object: unknown): import('geojson').GeoJsonObject;
}

/** The names of the world, as scripts/cut-world-places.ts wrote them. */
declare module 'kipimo:world-places' {
  export const text: string;
}
