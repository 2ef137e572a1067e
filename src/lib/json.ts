/** A number that a double cannot hold exactly; JSON.stringify writes its digits as they came. */
export interface BigNumber {
  readonly rawJSON: string;
}

/** Any JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | BigNumber
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
