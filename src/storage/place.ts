/** Where an engine that keeps its data has it. */
export type StoragePlace = { readonly kind: 'sqlite'; readonly directory: string } | DatabasePlace;

/** A database, and those that have a part of its datapoints. */
export interface DatabasePlace {
  readonly kind: 'postgres';
  /** With the password; it is never shown. */
  readonly url: string;
  readonly shardUrls?: readonly string[];
}
