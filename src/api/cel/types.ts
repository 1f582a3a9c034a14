/** The types of expressions (CEL specification, "Static type checking"). */
export type Type =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type }
  | { readonly kind: 'optional'; readonly of: Type }
  | { readonly kind: 'type'; readonly of?: Type }
  /** A function's type parameter; numbered where the function is called, in the order of the calls. */
  | { readonly kind: 'param'; readonly name: string; readonly order?: number }
  /** A type of a library, `kubernetes.Quantity` for example. */
  | { readonly kind: 'opaque'; readonly name: string }
  | ObjectType;

export type SimpleKind =
  'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration';

/** A struct whose fields are known. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: ReadonlyMap<string, Type>;
}

export const DYN: Type = { kind: 'dyn' };
export const ERROR: Type = { kind: 'error' };
export const NULL: Type = { kind: 'null' };
export const BOOL: Type = { kind: 'bool' };
export const INT: Type = { kind: 'int' };
export const UINT: Type = { kind: 'uint' };
export const DOUBLE: Type = { kind: 'double' };
export const STRING: Type = { kind: 'string' };
export const BYTES: Type = { kind: 'bytes' };
export const TIMESTAMP: Type = { kind: 'timestamp' };
export const DURATION: Type = { kind: 'duration' };

export const listOf = (element: Type): Type => ({ kind: 'list', element });
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value });
export const optionalOf = (of: Type): Type => ({ kind: 'optional', of });

/** As messages name it. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional_type(${formatType(type.of)})`;
    case 'type':
      return type.of === undefined ? 'type' : `type(${formatType(type.of)})`;
    case 'param':
    case 'opaque':
    case 'object':
      return type.name;
    case 'error':
      return '!error!';
    case 'dyn':
    case 'null':
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'string':
    case 'bytes':
    case 'timestamp':
    case 'duration':
      return type.kind;
  }
}

/**
 * Steps through types that one expression may take. A type that holds another one twice is as large as two of it: without an end, some hundred
 * characters would take days.
 */
const MAX_STEPS = 200_000;

/** Thrown when the types of an expression are too large to be worked with. */
export class TypesTooLarge extends Error {
  constructor() {
    super('the types of the expression are too large');
    this.name = 'TypesTooLarge';
  }
}

/** What type parameters stand for, by name. A check that fails leaves it as it was. Throws {@link TypesTooLarge}. */
export class Substitution {
  #stepsLeft = MAX_STEPS;
  readonly #bound = new Map<string, Type>();
  /** The names that are bound, in order, so that what a failed attempt has bound can be taken back. */
  readonly #trail: string[] = [];

  resolve(type: Type): Type {
    let found = type;
    while (found.kind === 'param') {
      const next = this.#bound.get(found.name);
      if (next === undefined) break;
      this.step();
      found = next;
    }
    return found;
  }

  /** One step through a type: there is an end to them. */
  step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new TypesTooLarge();
  }

  /** With all that is known of its parameters; what is not known is dyn with `free`, or stays. */
  apply(type: Type, free = false): Type {
    this.step();
    const found = this.resolve(type);
    switch (found.kind) {
      case 'param':
        return free ? DYN : found;
      case 'list':
        return listOf(this.apply(found.element, free));
      case 'map':
        return mapOf(this.apply(found.key, free), this.apply(found.value, free));
      case 'optional':
        return optionalOf(this.apply(found.of, free));
      case 'type':
        return found.of === undefined ? found : { kind: 'type', of: this.apply(found.of, free) };
      default:
        return found;
    }
  }

  /** Whether values of the one may stand where those of the other are wanted, each in its place. */
  assignable(from: readonly Type[], to: readonly Type[]): boolean {
    const before = this.#trail.length;
    if (from.length === to.length && from.every((type, index) => this.#assign(type, to[index] as Type))) return true;
    while (this.#trail.length > before) this.#bound.delete(this.#trail.pop() as string);
    return false;
  }

  #assign(from: Type, to: Type): boolean {
    this.step();
    const left = this.resolve(from);
    const right = this.resolve(to);
    if (left === right) return true;
    // The younger stands for the older, so that many that are joined one after another do not make a long chain.
    if (left.kind === 'param' && right.kind === 'param' && (left.order ?? 0) > (right.order ?? 0)) {
      return this.#bind(left.name, right);
    }
    if (right.kind === 'param') return this.#bind(right.name, left);
    if (left.kind === 'param') return this.#bind(left.name, right);
    if (isDynOrError(left) || isDynOrError(right)) return true;
    if (left.kind === 'null') return NULLABLE.has(right.kind);
    if (right.kind === 'null') return NULLABLE.has(left.kind);
    if (left.kind !== right.kind) return false;
    return this.#assignParts(left, right);
  }

  #assignParts(left: Type, right: Type): boolean {
    if (left.kind === 'list' && right.kind === 'list') return this.#assign(left.element, right.element);
    if (left.kind === 'map' && right.kind === 'map') {
      return this.#assign(left.key, right.key) && this.#assign(left.value, right.value);
    }
    if (left.kind === 'optional' && right.kind === 'optional') return this.#assign(left.of, right.of);
    if (left.kind === 'opaque' || left.kind === 'object') return left.name === (right as ObjectType).name;
    return true;
  }

  #bind(name: string, type: Type): boolean {
    if (type.kind === 'param' && type.name === name) return true;
    if (this.#contains(type, name)) return false;
    this.#bound.set(name, type);
    this.#trail.push(name);
    return true;
  }

  #contains(type: Type, name: string): boolean {
    this.step();
    const found = this.resolve(type);
    switch (found.kind) {
      case 'param':
        return found.name === name;
      case 'list':
        return this.#contains(found.element, name);
      case 'map':
        return this.#contains(found.key, name) || this.#contains(found.value, name);
      case 'optional':
        return this.#contains(found.of, name);
      case 'type':
        return found.of !== undefined && this.#contains(found.of, name);
      default:
        return false;
    }
  }
}

/** What `null` may stand for, and what may be compared with it. */
const NULLABLE: ReadonlySet<Type['kind']> = new Set(['object', 'opaque', 'optional', 'timestamp', 'duration', 'null']);

export function isDynOrError({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'error';
}

/** The same type, parameters included. */
export function isSameType(left: Type, right: Type): boolean {
  return left === right || formatType(left) === formatType(right);
}
