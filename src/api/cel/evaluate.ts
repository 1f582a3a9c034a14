import type { CallExpr, Expr, ListExpr, MapExpr, SelectExpr } from './ast';
import { Uint } from './ast';
import type { Checked } from './checker';
import { TYPE_NAMES } from './checker';
import type { Code, ExpressionCompiler } from './code';
import { compileComprehension } from './comprehension';
import { insert, noSuchKey } from './map-keys';
import type { Overload } from './declarations';
import { resetWork, unitsOfWork } from './extra-work';
import { Run } from './run';
import { isDynOrError, type Type } from './types';
import {
  costSize,
  Duration,
  Entries,
  EvalError,
  Items,
  ListValue,
  MapValue,
  NONE,
  ObjectValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  type Value,
} from './values';

const IDENT_COST = 1;
const LIST_COST = 10;
const MAP_COST = 30;

/** An expression that can be evaluated again and again. Nothing is compiled then. */
export interface Program {
  readonly checked: Checked;
  /** `limit`: in units of cost. */
  start(variables: Readonly<Record<string, Value>>, limit: number): Run;
}

export function compileProgram(checked: Checked): Program {
  const code = new Compiler(checked).compile(checked.expr);
  return { checked, start: (variables, limit) => new Run(variables, limit, code) };
}

/** Where the variables of comprehensions are, innermost first. */
interface Locals {
  readonly name: string;
  readonly slot: number;
  readonly outer: Locals | undefined;
}

class Compiler implements ExpressionCompiler {
  #locals: Locals | undefined;
  #slots = 0;
  #comprehensions = 0;

  constructor(private readonly checked: Checked) {}

  compile(expr: Expr): Code {
    switch (expr.kind) {
      case 'const': {
        const { value } = expr;
        return () => value;
      }
      case 'ident':
        return this.#name(this.checked.nameOf(expr) ?? expr.name, expr.name.startsWith('.'));
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        throw new Error(`no struct is known, ${expr.name} neither`);
      case 'comprehension':
        return compileComprehension(expr, this);
    }
  }

  /** The number of the next comprehension; those within one have the numbers that follow. */
  nextComprehension(): number {
    this.#comprehensions += 1;
    return this.#comprehensions;
  }

  lastComprehension(): number {
    return this.#comprehensions;
  }

  /** Compiles with more variables, each in a slot of its own. */
  within<Result>(names: readonly string[], compile: (slots: readonly number[]) => Result): Result {
    const outer = this.#locals;
    const slots = names.map((name) => {
      const slot = this.#slots++;
      this.#locals = { name, slot, outer: this.#locals };
      return slot;
    });
    const result = compile(slots);
    this.#locals = outer;
    return result;
  }

  #name(name: string, global: boolean): Code {
    for (let local = global ? undefined : this.#locals; local !== undefined; local = local.outer) {
      if (local.name !== name) continue;
      const { slot } = local;
      return (run) => {
        run.spend(IDENT_COST);
        const value = run.locals[slot] as Value | EvalError;
        if (value instanceof EvalError) throw value;
        return value;
      };
    }
    const type = this.checked.references.has(name) ? undefined : TYPE_NAMES.get(name);
    if (type !== undefined) {
      const value = new TypeValue(name);
      return () => value;
    }
    return (run) => {
      run.spend(IDENT_COST);
      const value = run.variables[name];
      if (value === undefined) {
        if (/^[a-z]+\.[A-Z]/.test(name)) return new TypeValue(name);
        throw new EvalError(`no such attribute(s): ${name}`);
      }
      return value;
    };
  }

  #select(expr: SelectExpr): Code {
    const qualified = this.checked.nameOf(expr);
    if (qualified !== undefined) return this.#name(qualified, true);
    const operand = this.compile(expr.operand);
    const { field } = expr;
    if (expr.testOnly) {
      return (run) => {
        const value = operand(run);
        return value instanceof Optional ? hasInOptional(value, field) : memberOf(value, field) !== undefined;
      };
    }
    return (run) => {
      const value = operand(run);
      run.spend(IDENT_COST);
      if (value instanceof Optional) return optionalMember(value, field);
      const member = memberOf(value, field);
      return member === undefined ? noSuchKey(field) : member;
    };
  }

  #call(expr: CallExpr): Code {
    switch (expr.name) {
      case '_&&_':
        return this.#logical(expr, false);
      case '_||_':
        return this.#logical(expr, true);
      case '_?_:_':
        return this.#conditional(expr);
      case '@not_strictly_false': {
        const [operand] = expr.args.map((arg) => this.compile(arg)) as [Code];
        return (run) => {
          run.spend(1);
          return notStrictlyFalse(operand, run);
        };
      }
      case '_?._':
        return this.#optionalSelect(expr);
      default:
        return this.#function(expr);
    }
  }

  /** `decisive`: the value of an operand that decides, whatever the other is, an error even. */
  #logical({ args }: CallExpr, decisive: boolean): Code {
    const [left, right] = args.map((arg) => this.compile(arg)) as [Code, Code];
    return (run) => {
      let failure: EvalError | undefined;
      try {
        const first = left(run);
        if (first === decisive) return decisive;
        if (first !== !decisive) failure = new EvalError('no such overload');
      } catch (error) {
        if (!(error instanceof EvalError)) throw error;
        failure = error;
      }
      if (failure === undefined) {
        const second = right(run);
        if (typeof second !== 'boolean') throw new EvalError('no such overload');
        return second;
      }
      if (right(run) === decisive) return decisive;
      throw failure;
    };
  }

  #conditional({ args }: CallExpr): Code {
    const [condition, first, second] = args.map((arg) => this.compile(arg)) as [Code, Code, Code];
    return (run) => {
      const decision = condition(run);
      if (typeof decision !== 'boolean') throw new EvalError('no such overload');
      return decision ? first(run) : second(run);
    };
  }

  #optionalSelect({ args }: CallExpr): Code {
    const [operandExpr, fieldExpr] = args as [Expr, Expr];
    const operand = this.compile(operandExpr);
    const field = fieldExpr.kind === 'const' && typeof fieldExpr.value === 'string' ? fieldExpr.value : '';
    return (run) => {
      const value = operand(run);
      run.spend(IDENT_COST);
      const inner = value instanceof Optional ? value.value : value;
      if (inner === undefined) return NONE;
      const member = memberOf(inner, field);
      return member === undefined ? NONE : new Optional(member);
    };
  }

  #function(expr: CallExpr): Code {
    const overloads = this.checked.overloadsOf(expr);
    const isMember = overloads.some(({ member }) => member);
    const argExprs = expr.target !== undefined && isMember ? [expr.target, ...expr.args] : expr.args;
    const args = argExprs.map((arg) => this.compile(arg));
    const [only] = overloads;
    const isSettled =
      overloads.length === 1 && only !== undefined && argExprs.every((arg) => isKnown(this.checked.typeOf(arg)));
    const choose = isSettled ? () => only : (values: readonly Value[]) => matching(overloads, values);
    return callOf(args, choose);
  }

  #list({ elements, optional }: ListExpr): Code {
    const codes = elements.map((element) => this.compile(element));
    return (run) => {
      const items: Value[] = [];
      codes.forEach((code, index) => {
        const value = code(run);
        if (!optional.has(index)) items.push(value);
        else if (!(value instanceof Optional))
          throw new EvalError(`cannot initialize optional list element from non-optional value`);
        else if (value.value !== undefined) items.push(value.value);
      });
      run.spend(LIST_COST);
      return new Items(items);
    };
  }

  #map({ entries }: MapExpr): Code {
    const codes = entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }));
    return (run) => {
      const map = new Map<string, readonly [Value, Value]>();
      for (const { key, value, optional } of codes) {
        const keyValue = key(run);
        let member: Value | undefined = value(run);
        if (optional) {
          if (!(member instanceof Optional))
            throw new EvalError('cannot initialize optional entry from non-optional value');
          member = member.value;
          if (member === undefined) continue;
        }
        insert(map, keyValue, member);
      }
      run.spend(MAP_COST);
      return new Entries(map);
    };
  }
}

function callOf(args: readonly Code[], choose: (values: readonly Value[]) => Overload): Code {
  const call = (run: Run, values: readonly Value[]): Value => {
    const { cost, evaluate } = choose(values);
    run.spend(cost.of(values.map(costSize)));
    resetWork();
    const value = evaluate(...values);
    run.spend(unitsOfWork());
    return value;
  };
  const [first, second] = args;
  if (first !== undefined && second !== undefined && args.length === 2)
    return (run) => call(run, [first(run), second(run)]);
  return (run) =>
    call(
      run,
      args.map((arg) => arg(run)),
    );
}

function notStrictlyFalse(operand: Code, run: Run): boolean {
  try {
    return operand(run) !== false;
  } catch (error) {
    if (error instanceof EvalError) return true;
    throw error;
  }
}

/** Whether values of the type are told from others before the evaluation. */
function isKnown(type: Type): boolean {
  switch (type.kind) {
    case 'list':
      return isKnown(type.element);
    case 'map':
      return isKnown(type.key) && isKnown(type.value);
    case 'optional':
      return isKnown(type.of);
    case 'param':
      return false;
    default:
      return !isDynOrError(type);
  }
}

function matching(overloads: readonly Overload[], values: readonly Value[]): Overload {
  const found = overloads.find(({ params }) => params.every((type, index) => fits(values[index] as Value, type)));
  if (found === undefined) throw new EvalError('no such overload');
  return found;
}

function fits(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'param':
      return true;
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'uint':
      return value instanceof Uint;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      return (
        value instanceof ListValue && (value.length === 0 || isOpen(type.element) || fits(value.at(0), type.element))
      );
    case 'map':
      return value instanceof MapValue;
    case 'optional':
      return value instanceof Optional;
    case 'type':
      return value instanceof TypeValue;
    case 'opaque':
    case 'object':
      return (value instanceof Opaque || value instanceof ObjectValue) && value.typeName === type.name;
  }
}

function isOpen({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'param';
}

/** Undefined: there is no such field. */
export function memberOf(value: Value, field: string): Value | undefined {
  if (value instanceof MapValue || value instanceof ObjectValue) return value.get(field);
  throw new EvalError(`no such overload`);
}

function hasInOptional({ value }: Optional, field: string): boolean {
  return value !== undefined && memberOf(value, field) !== undefined;
}

function optionalMember({ value }: Optional, field: string): Optional {
  const member = value === undefined ? undefined : memberOf(value, field);
  return member === undefined ? NONE : new Optional(member);
}
