/** A part of a list. */
export interface ListPart {
  readonly limit: number;
  readonly offset: number;
}

/** A part of a list, under the name of its items, and the number of all that match. */
export type Listing<Name extends string, Item> = { readonly total: number } & {
  readonly [Key in Name]: readonly Item[];
};
