const NOTHING = {};

/**
 * `{ ...object, ...more }`, for what every request makes. A literal that begins with a spread and goes on with properties
 * which the spread object lacks gets a hidden class of its own from V8 11.3 (Node 20), each time: that takes a microsecond,
 * and nothing that reads the object can learn where its properties are. A literal that begins with nothing does not. The
 * same holds for what is added to a copy later; without `more` it is a copy for that. Measured: 1.07 microseconds become 0.12 on
 * Node 20. On 22 and 24, where a plain spread takes 0.03, this takes 0.06: it goes when Node 20 is not supported any more.
 */
export function extend<Base extends object, More extends object = object>(object: Base, more?: More): Base & More {
  return { ...NOTHING, ...object, ...more } as Base & More;
}

/**
 * `{ ...object, metadata }`, for what every request makes of objects of all kinds. Where a literal overwrites a property of
 * a spread object and sees many kinds of them, V8 11.3 looks for it anew each time; an assignment does not (0.24 and 0.12 microseconds;
 * on Node 22 and 24 both take 0.11).
 */
export function withMetadata<Whole extends { readonly metadata: unknown }>(
  object: Whole,
  metadata: Whole['metadata'],
): Whole {
  const copy: { metadata: Whole['metadata'] } & Whole = { ...object };
  copy.metadata = metadata;
  return copy;
}
