import { declare, OF_TEXT, type Overload } from '../declarations';
import { CostExceeded } from '../run';
import { compareText } from '../equality';
import { EvalError, Opaque, type Value } from '../values';

/** A version by semver.org. */
class Semver extends Opaque {
  readonly typeName = 'kubernetes.Semver';

  constructor(
    readonly numbers: readonly [bigint, bigint, bigint],
    readonly prerelease: readonly string[],
  ) {
    super();
  }

  equals(other: Opaque): boolean {
    return other instanceof Semver && compare(this, other) === 0;
  }
}

const NUMBER = '(0|[1-9]\\d{0,18})';
const SYNTAX = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`);

/** None is longer; to take a text of megabytes apart takes tens of milliseconds. */
const MAX_LENGTH = 64 * 1024;

/** Throws {@link CostExceeded} for an absurdly long text. */
function semverOf(text: string): Semver | undefined {
  if (text.length > MAX_LENGTH) throw new CostExceeded();
  const match = SYNTAX.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', prerelease] = match;
  const parts = prerelease === undefined ? [] : prerelease.split('.');
  if (parts.some((part) => part === '' || /^0\d+$/.test(part))) return undefined;
  return new Semver([BigInt(major), BigInt(minor), BigInt(patch)], parts);
}

/** `v1.2` and `01.2.3` are read as 1.2.0 and 1.2.3. */
function normalized(text: string): string {
  const [, core = '', rest = ''] = /^v?([0-9.]*)(.*)$/s.exec(text) ?? [];
  const numbers = core.split('.').map((number) => number.replace(/^0+(?=\d)/, ''));
  while (numbers.length < 3 && !core.endsWith('.') && core !== '') numbers.push('0');
  return numbers.join('.') + rest;
}

function compare(left: Semver, right: Semver): number {
  for (const index of [0, 1, 2] as const) {
    if (left.numbers[index] !== right.numbers[index]) return left.numbers[index] < right.numbers[index] ? -1 : 1;
  }
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return Math.sign(right.prerelease.length - left.prerelease.length);
  }
  for (let index = 0; index < Math.min(left.prerelease.length, right.prerelease.length); index += 1) {
    const order = comparePart(left.prerelease[index] as string, right.prerelease[index] as string);
    if (order !== 0) return order;
  }
  return Math.sign(left.prerelease.length - right.prerelease.length);
}

/** Numbers stand before words. */
function comparePart(left: string, right: string): number {
  const [one, other] = [left, right].map((part) => /^\d+$/.test(part)) as [boolean, boolean];
  if (one !== other) return one ? -1 : 1;
  if (one && left.length !== right.length) return left.length < right.length ? -1 : 1;
  return Math.sign(compareText(left, right));
}

/** Kubernetes' library of versions. */
export function semverFunctions(): readonly Overload[] {
  const of = (value: Value | undefined): Semver => value as Semver;
  const parse = (text: string): Semver => {
    const found = semverOf(text);
    if (found === undefined) throw new EvalError('No Major.Minor.Patch elements found');
    return found;
  };
  const order = (left: Value | undefined, right: Value | undefined): number => compare(of(left), of(right));
  return [
    declare('semver(string): kubernetes.Semver', (text) => parse(text as string), OF_TEXT),
    declare(
      'semver(string, bool): kubernetes.Semver',
      (text, normalize) => parse(normalize === true ? normalized(text as string) : (text as string)),
      OF_TEXT,
    ),
    declare('isSemver(string): bool', (text) => semverOf(text as string) !== undefined, OF_TEXT),
    declare(
      'isSemver(string, bool): bool',
      (text, normalize) => semverOf(normalize === true ? normalized(text as string) : (text as string)) !== undefined,
      OF_TEXT,
    ),
    declare('kubernetes.Semver.major(): int', (value) => of(value).numbers[0]),
    declare('kubernetes.Semver.minor(): int', (value) => of(value).numbers[1]),
    declare('kubernetes.Semver.patch(): int', (value) => of(value).numbers[2]),
    declare('kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool', (left, right) => order(left, right) > 0),
    declare('kubernetes.Semver.isLessThan(kubernetes.Semver): bool', (left, right) => order(left, right) < 0),
    declare('kubernetes.Semver.compareTo(kubernetes.Semver): int', (left, right) => BigInt(order(left, right))),
  ];
}
