import type { CallExpr, ComprehensionExpr, Expr, IdentExpr, ListExpr, MapExpr, SelectExpr, StructExpr } from './ast';
import { Uint } from './ast';
import type { Overload } from './declarations';
import type { Environment } from './environment';
import { CelSyntaxError, MAX_PROBLEMS, type SourceProblem } from './source-error';
import * as types from './types';
import {
  DYN,
  ERROR,
  formatType,
  isDynOrError,
  isSameType,
  listOf,
  mapOf,
  optionalOf,
  Substitution,
  TypesTooLarge,
  type Type,
} from './types';

/** An expression whose names and types are settled. */
export interface Checked {
  readonly expr: Expr;
  readonly type: Type;
  readonly typeOf: (expr: Expr) => Type;
  /** Which overloads of its function a call may take; one, unless types are known at run time only. */
  readonly overloadsOf: (call: CallExpr) => readonly Overload[];
  /** What a chain of selections means where it is the name of a variable or a type: `a.b` for the variable `a.b`. */
  readonly nameOf: (expr: Expr) => string | undefined;
  /** Variables that the expression reads. */
  readonly references: ReadonlySet<string>;
}

/** Throws a CelSyntaxError that lists all problems. */
export function check(source: string, expr: Expr, environment: Environment): Checked {
  try {
    return new Checker(source, environment).check(expr);
  } catch (error) {
    if (error instanceof TypesTooLarge) {
      throw new CelSyntaxError(source, [{ position: expr.position, message: error.message }]);
    }
    throw error;
  }
}

interface Scope {
  readonly name: string;
  readonly type: Type;
  readonly outer: Scope | undefined;
}

/** Names that stand for types. */
export const TYPE_NAMES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['bool', types.BOOL],
  ['int', types.INT],
  ['uint', types.UINT],
  ['double', types.DOUBLE],
  ['string', types.STRING],
  ['bytes', types.BYTES],
  ['null_type', types.NULL],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['type', { kind: 'type' }],
  ['optional_type', optionalOf(DYN)],
  ['google.protobuf.Timestamp', types.TIMESTAMP],
  ['google.protobuf.Duration', types.DURATION],
]);

/** No name has more, so that long chains of selections are not tried for one at each of their members. */
const MAX_NAME_PARTS = 4;

class Checker {
  readonly #types = new Map<Expr, Type>();
  readonly #overloads = new Map<CallExpr, readonly Overload[]>();
  readonly #names = new Map<Expr, string>();
  readonly #references = new Set<string>();
  readonly #problems: SourceProblem[] = [];
  readonly #substitution = new Substitution();
  #scope: Scope | undefined;
  #fresh = 0;

  constructor(
    private readonly source: string,
    private readonly environment: Environment,
  ) {}

  check(expr: Expr): Checked {
    this.#check(expr);
    if (this.#problems.length > 0) throw new CelSyntaxError(this.source, this.#problems);
    const settled = new Map<Expr, Type>();
    for (const [node, type] of this.#types) settled.set(node, this.#substitution.apply(type, true));
    const typeOf = (node: Expr): Type => settled.get(node) ?? DYN;
    return {
      expr,
      type: typeOf(expr),
      typeOf,
      overloadsOf: (call) => this.#overloads.get(call) ?? [],
      nameOf: (node) => this.#names.get(node),
      references: this.#references,
    };
  }

  #report({ position }: { readonly position: number }, message: string): Type {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ position, message });
    return ERROR;
  }

  /** As messages name it. */
  #shown(type: Type): string {
    return formatType(this.#substitution.apply(type, true));
  }

  #check(expr: Expr): Type {
    const type = this.#typed(expr);
    this.#types.set(expr, type);
    return type;
  }

  #typed(expr: Expr): Type {
    switch (expr.kind) {
      case 'const':
        return literalType(expr.value);
      case 'ident':
        return this.#ident(expr);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  /** Of a variable, or of a type; undefined: there is none of that name. */
  #lookUp(name: string): Type | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name;
    if (plain === name) {
      for (let scope = this.#scope; scope !== undefined; scope = scope.outer)
        if (scope.name === name) return scope.type;
    }
    const variable = this.environment.variables.get(plain);
    if (variable !== undefined) {
      this.#references.add(plain);
      return variable;
    }
    const type = TYPE_NAMES.get(plain) ?? this.#libraryType(plain);
    return type === undefined ? undefined : { kind: 'type', of: type };
  }

  #libraryType(name: string): Type | undefined {
    return LIBRARY_TYPES.has(name) ? { kind: 'opaque', name } : undefined;
  }

  #ident(expr: IdentExpr): Type {
    const type = this.#lookUp(expr.name);
    if (type === undefined) return this.#undeclared(expr, expr.name);
    this.#names.set(expr, expr.name.replace(/^\./, ''));
    return type;
  }

  #undeclared(at: Expr, name: string): Type {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`);
  }

  #select(expr: SelectExpr): Type {
    const qualified = expr.testOnly ? undefined : qualifiedName(expr);
    if (qualified !== undefined && !this.#isScoped(qualified)) {
      const type = this.#lookUp(qualified);
      if (type !== undefined) {
        this.#names.set(expr, qualified.replace(/^\./, ''));
        return type;
      }
    }
    const operand = this.#substitution.resolve(this.#check(expr.operand));
    const isOptional = operand.kind === 'optional';
    const from = isOptional ? this.#substitution.resolve(operand.of) : operand;
    const type = this.#field(expr, from, expr.field);
    if (expr.testOnly) return types.BOOL;
    return isOptional ? optionalOf(type) : type;
  }

  /** Whether a name begins with a variable of a comprehension, which hides others. */
  #isScoped(qualified: string): boolean {
    const first = qualified.slice(0, qualified.indexOf('.'));
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) if (scope.name === first) return true;
    return false;
  }

  #field(at: Expr, from: Type, field: string): Type {
    switch (from.kind) {
      case 'map':
        return from.value;
      case 'object':
        return from.fields.get(field) ?? this.#report(at, `undefined field '${field}'`);
      case 'param':
        this.#substitution.assignable([from], [DYN]);
        return DYN;
      case 'dyn':
      case 'error':
        return DYN;
      default:
        return this.#report(at, `type '${this.#shown(from)}' does not support field selection`);
    }
  }

  #call(expr: CallExpr): Type {
    if (expr.name === '_?._') return this.#optionalSelect(expr);
    const namespaced = expr.target === undefined ? undefined : this.#namespacedCall(expr);
    if (namespaced !== undefined) return this.#resolve(expr, namespaced, expr.args, false);
    const name = expr.name.replace(/^\./, '');
    const member = expr.target !== undefined;
    const args = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    if (expr.target !== undefined) this.#check(expr.target);
    const overloads = this.environment.functions.get(name);
    if (overloads === undefined) {
      for (const arg of expr.args) this.#check(arg);
      return this.#undeclared(expr, name);
    }
    return this.#resolve(expr, overloads, args, member);
  }

  /** `sets.contains(...)`: a function whose name has a dot. */
  #namespacedCall(expr: CallExpr): readonly Overload[] | undefined {
    const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target);
    if (prefix === undefined || this.#isScoped(`${prefix}.`)) return undefined;
    const overloads = this.environment.functions.get(`${prefix}.${expr.name}`.replace(/^\./, ''));
    return overloads?.some(({ member }) => !member) === true ? overloads : undefined;
  }

  #optionalSelect(expr: CallExpr): Type {
    const [operandExpr, field] = expr.args as [Expr, Expr];
    const operand = this.#substitution.resolve(this.#check(operandExpr));
    this.#check(field);
    const from = operand.kind === 'optional' ? this.#substitution.resolve(operand.of) : operand;
    const name = field.kind === 'const' && typeof field.value === 'string' ? field.value : '';
    return optionalOf(this.#field(expr, from, name));
  }

  #resolve(expr: CallExpr, overloads: readonly Overload[], args: readonly Expr[], member: boolean): Type {
    const argTypes = args.map((arg) => this.#types.get(arg) ?? this.#check(arg));
    const found: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.member !== member || overload.params.length !== args.length) continue;
      const renamed = this.#instance(overload);
      if (!this.#substitution.assignable(argTypes, renamed.params)) continue;
      found.push(overload);
      const type = this.#substitution.apply(renamed.result);
      result = result === undefined || isSameType(result, type) ? type : DYN;
    }
    if (result === undefined) {
      if (argTypes.some(({ kind }) => kind === 'error')) return ERROR;
      const shown = argTypes.map((type) => this.#shown(type));
      const applied = member ? `'${shown[0]}.(${shown.slice(1).join(', ')})'` : `'(${shown.join(', ')})'`;
      return this.#report(
        expr,
        `found no matching overload for '${expr.name.replace(/^\./, '')}' applied to ${applied}`,
      );
    }
    this.#overloads.set(expr, found);
    return result;
  }

  /** With type parameters of its own, so that two calls do not share theirs. */
  #instance(overload: Overload): { readonly params: readonly Type[]; readonly result: Type } {
    const { params, result, isGeneric } = overload;
    if (!isGeneric) return overload;
    this.#fresh += 1;
    const order = this.#fresh;
    return { params: params.map((type) => renamed(type, order)), result: renamed(result, order) };
  }

  #list({ elements, optional }: ListExpr): Type {
    let joined: Type | undefined;
    elements.forEach((element, index) => {
      let type = this.#check(element);
      if (optional.has(index)) type = this.#unwrapped(element, type);
      joined = joined === undefined ? type : this.#join(joined, type);
    });
    return listOf(joined ?? this.#freshParam());
  }

  #freshParam(): Type {
    this.#fresh += 1;
    return { kind: 'param', name: `_var${this.#fresh}`, order: this.#fresh };
  }

  #unwrapped(at: Expr, type: Type): Type {
    const found = this.#substitution.resolve(type);
    if (found.kind === 'optional') return found.of;
    if (isDynOrError(found)) return DYN;
    const shown = this.#shown(found);
    return this.#report(at, `expected type 'optional_type(${shown})' but found '${shown}'`);
  }

  /** One type for both, dyn where they have none. */
  #join(left: Type, right: Type): Type {
    if (this.#substitution.assignable([right], [left])) {
      return this.#isMoreGeneral(right, left) ? right : left;
    }
    return this.#substitution.assignable([left], [right]) ? right : DYN;
  }

  /** Whether `left` has a dyn where `right` says more. */
  #isMoreGeneral(left: Type, right: Type): boolean {
    this.#substitution.step();
    const one = this.#substitution.resolve(left);
    const other = this.#substitution.resolve(right);
    if (isDynOrError(one)) return !isDynOrError(other);
    if (one.kind === 'list' && other.kind === 'list') return this.#isMoreGeneral(one.element, other.element);
    if (one.kind === 'optional' && other.kind === 'optional') return this.#isMoreGeneral(one.of, other.of);
    if (one.kind === 'map' && other.kind === 'map') {
      return this.#isMoreGeneral(one.key, other.key) || this.#isMoreGeneral(one.value, other.value);
    }
    return other.kind === 'null' && one.kind !== 'null';
  }

  #map({ entries }: MapExpr): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const entry of entries) {
      const keyType = this.#check(entry.key);
      let valueType = this.#check(entry.value);
      if (entry.optional) valueType = this.#unwrapped(entry.value, valueType);
      key = key === undefined ? keyType : this.#join(key, keyType);
      value = value === undefined ? valueType : this.#join(value, valueType);
    }
    return mapOf(key ?? this.#freshParam(), value ?? this.#freshParam());
  }

  #struct(expr: StructExpr): Type {
    for (const { value } of expr.fields) this.#check(value);
    return this.#undeclared(expr, expr.name);
  }

  #comprehension(expr: ComprehensionExpr): Type {
    const range = this.#substitution.resolve(this.#check(expr.range));
    const initial = this.#check(expr.initial);
    const [first, second] = this.#variableTypes(expr, range);
    const outer = this.#scope;
    const withAccumulator: Scope = { name: expr.accumulator, type: initial, outer };
    this.#scope = withAccumulator;
    if (expr.variable2 !== undefined) this.#scope = { name: expr.variable2, type: second, outer: this.#scope };
    this.#scope = { name: expr.variable, type: first, outer: this.#scope };
    this.#expect(expr.condition, types.BOOL);
    this.#expect(expr.step, initial);
    this.#scope = withAccumulator;
    const result = this.#check(expr.result);
    this.#scope = outer;
    return this.#substitution.apply(result);
  }

  #variableTypes(expr: ComprehensionExpr, range: Type): readonly [Type, Type] {
    const two = expr.variable2 !== undefined;
    switch (range.kind) {
      case 'list':
        return two ? [types.INT, range.element] : [range.element, DYN];
      case 'map':
        return two ? [range.key, range.value] : [range.key, DYN];
      case 'dyn':
      case 'error':
      case 'param':
        return [DYN, DYN];
      default:
        this.#report(
          expr.range,
          `expression of type '${this.#shown(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }

  #expect(expr: Expr, wanted: Type): void {
    const found = this.#check(expr);
    if (this.#substitution.assignable([found], [wanted])) return;
    const [want, got] = [wanted, found].map((type) => this.#shown(type));
    this.#report(expr, `expected type '${want}' but found '${got}'`);
  }
}

/** Opaque types that an expression can name. */
const LIBRARY_TYPES: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.URL',
  'kubernetes.Quantity',
  'kubernetes.NamedFormat',
  'kubernetes.Semver',
]);

function literalType(value: unknown): Type {
  if (value instanceof Uint) return types.UINT;
  if (value instanceof Uint8Array) return types.BYTES;
  switch (typeof value) {
    case 'bigint':
      return types.INT;
    case 'number':
      return types.DOUBLE;
    case 'string':
      return types.STRING;
    case 'boolean':
      return types.BOOL;
    default:
      return types.NULL;
  }
}

/** `a.b.c` of selections of a name, undefined for anything else. */
function qualifiedName(expr: Expr, parts = MAX_NAME_PARTS): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly || parts === 0) return undefined;
  const operand = qualifiedName(expr.operand, parts - 1);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}

function renamed(type: Type, order: number): Type {
  switch (type.kind) {
    case 'param':
      return { kind: 'param', name: `${type.name}%${order}`, order };
    case 'list':
      return listOf(renamed(type.element, order));
    case 'map':
      return mapOf(renamed(type.key, order), renamed(type.value, order));
    case 'optional':
      return optionalOf(renamed(type.of, order));
    case 'type':
      return type.of === undefined ? type : { kind: 'type', of: renamed(type.of, order) };
    default:
      return type;
  }
}
