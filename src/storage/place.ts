/** Where an engine that keeps its data has it. */
export type StoragePlace = { readonly kind: 'sqlite'; readonly directory: string } | DatabasePlace;

/** A database. */
export interface DatabasePlace {
  readonly kind: 'postgres';
  /** With the password; it is never shown. */
  readonly url: string;
}
