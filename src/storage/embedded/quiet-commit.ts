/**
 * lmdb prints the error of a failed commit with its stack before it gives it to those who wait, who say it in words of their own.
 * While a commit is under way, errors as LMDB's are (their code is a number) are left out of `console.error`.
 */

type Print = typeof console.error;

let underWay = 0;
let quiet: { readonly print: Print; readonly before: Print } | undefined;

function isOfLmdb(values: readonly unknown[]): boolean {
  const [first] = values;
  return values.length === 1 && first instanceof Error && 'code' in first && typeof first.code === 'number';
}

/** A function of its own each time: somebody may wrap one and stay. */
function quieted(before: Print): Print {
  return (...values) => {
    if (!isOfLmdb(values)) before.apply(console, values);
  };
}

/** Runs a commit; commits of several files may overlap. */
export async function commitQuietly<T>(commit: () => Promise<T>): Promise<T> {
  if (underWay === 0) {
    const before = console.error;
    quiet = { print: quieted(before), before };
    console.error = quiet.print;
  }
  underWay += 1;
  try {
    return await commit();
  } finally {
    underWay -= 1;
    // What somebody has put in its place meanwhile stays.
    if (underWay === 0 && quiet !== undefined && console.error === quiet.print) console.error = quiet.before;
  }
}
