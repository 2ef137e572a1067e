/** Buckets per doubling: a latency is known to 1 part in 64. */
const steps = 64;
const stepBits = 6;
/** Up to 2^26 microseconds, more than a minute. */
const doublings = 26 - stepBits + 1;

/** Counts latencies in a fixed amount of memory. */
export interface LatencyHistogram {
  record(milliseconds: number): void;
  readonly count: number;
  /** The latency in milliseconds that this part (0 to 1) of all does not exceed. */
  quantile(part: number): number;
}

/** An empty histogram, exact to a microsecond or 1.6 percent, whichever is more. */
export function createLatencyHistogram(): LatencyHistogram {
  const buckets = new Uint32Array(steps * (doublings + 1));
  let count = 0;
  return {
    record(milliseconds) {
      const at = Math.min(bucketOf(Math.round(milliseconds * 1_000)), buckets.length - 1);
      buckets[at] = (buckets[at] ?? 0) + 1;
      count += 1;
    },
    get count() {
      return count;
    },
    quantile(part) {
      const wanted = Math.max(1, Math.ceil(part * count));
      let seen = 0;
      for (const [at, inBucket] of buckets.entries()) {
        seen += inBucket;
        if (seen >= wanted) return upperEndOf(at) / 1_000;
      }
      return 0;
    },
  };
}

function bucketOf(microseconds: number): number {
  const whole = Math.max(0, microseconds);
  if (whole < steps) return whole;
  const shift = Math.floor(Math.log2(whole)) - stepBits;
  return steps * (shift + 1) + Math.floor(whole / 2 ** shift) - steps;
}

/** The largest number of microseconds that falls into a bucket. */
function upperEndOf(bucket: number): number {
  if (bucket < steps) return bucket;
  const shift = Math.floor(bucket / steps) - 1;
  return (steps + (bucket % steps) + 1) * 2 ** shift - 1;
}
