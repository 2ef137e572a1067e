/** Limits of the heads of requests, each with its unit. */
export const requestLimits = {
  /** From the accept to the first byte. */
  firstByteMs: 10_000,
  /** Of a head with its line ends; node:http refuses names and values of more than 16 KiB. */
  headBytesMax: 20_480,
  /** Of a head: each field takes many times its bytes once it is read. */
  headFieldsMax: 100,
  /** Longer fields are not kept to know those of the next request again. */
  keptFieldsBytesMax: 1_024,
  /** Memory of a connection whose head is not whole, beside the bytes of that head. */
  connectionBytes: 12_288,
  /** Memory of a request whose body is not whole, beside two bytes for each of its head. */
  requestBytes: 24_576,
  /** Shorter pieces of a body keep it in its place among those that wait. */
  progressBytes: 512,
  /** A body in chunks goes on in a slice once so many bytes of it wait: some hundred chunks. */
  chunkedBytesMin: 512,
  /** Bytes that Node reads ahead of a connection that is not read, and then one chunk at most. */
  readAheadBytes: 16_384,
  /** Of empty lines before a head, in however many packets they come. */
  emptyLineBytesMax: 64,
  /** A request line of a sketch that nothing follows for so long is the whole request. */
  loneLineMs: 5_000,
  /** Slices in which requests of many connections begin: what they do at once comes on top. */
  beginMs: 2,
  /** Slices in which requests of guests are handled, in every third turn of the event loop. */
  guestMs: 0.25,
} as const;
