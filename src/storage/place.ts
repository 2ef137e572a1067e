/** Where an engine that keeps its data has it. */
export type StoragePlace =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | {
      readonly kind: 'postgres';
      /** With the password; it is never shown. */
      readonly url: string;
    };
