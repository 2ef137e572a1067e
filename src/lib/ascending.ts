/** The first place whose number is `at` or more. */
export const rowFrom = (numbers: Float64Array, at: number, from = 0, to = numbers.length): number =>
  search(numbers, at, false, from, to);

/** The first place whose number is more than `at`. */
export const rowAfter = (numbers: Float64Array, at: number): number =>
  search(numbers, at, true, 0, numbers.length);

function search(
  numbers: Float64Array,
  at: number,
  isAfter: boolean,
  from: number,
  to: number,
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const number = numbers[middle] ?? 0;
    if (number < at || (isAfter && number === at)) low = middle + 1;
    else high = middle;
  }
  return low;
}
