import type { CallExpr, ComprehensionExpr, Expr } from './ast';
import type { Checked } from './checker';
import { MAX_REQUEST_SIZE, type SchemaType } from './schema-type';
import type { Type } from './types';

/** What an evaluation may cost at most, and how large its result may be. */
interface Estimate {
  readonly cost: number;
  readonly size: number;
  /** Where the value comes from, if it is a part of the object. */
  readonly source?: SchemaType;
}

/**
 * The most that an expression may cost, in the units in which evaluations are counted, for objects of a schema (Kubernetes,
 * "Resource use by validation functions"). `variables`: what is known of them.
 */
export function estimateCost(checked: Checked, variables: ReadonlyMap<string, SchemaType>): number {
  return new Estimator(checked, variables).estimate(checked.expr).cost;
}

interface Known {
  readonly name: string;
  readonly estimate: Omit<Estimate, 'cost'>;
  readonly outer: Known | undefined;
}

class Estimator {
  #known: Known | undefined;

  constructor(
    private readonly checked: Checked,
    private readonly variables: ReadonlyMap<string, SchemaType>,
  ) {}

  estimate(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'const':
        return { cost: 0, size: sizeOfLiteral(expr.value) };
      case 'ident':
        return { cost: 1, ...this.#lookUp(expr.name, expr) };
      case 'select':
        return this.#select(this.estimate(expr.operand), expr.field, expr.testOnly ? 0 : 1, expr);
      case 'call':
        return this.#call(expr);
      case 'list': {
        const elements = expr.elements.map((element) => this.estimate(element));
        const [first] = elements;
        const source = first?.source;
        return {
          cost: sum(elements) + 10,
          size: elements.length,
          ...(source === undefined ? {} : { source: listOfSource(source, elements.length) }),
        };
      }
      case 'map':
        return {
          cost: 30 + sum(expr.entries.flatMap(({ key, value }) => [this.estimate(key), this.estimate(value)])),
          size: expr.entries.length,
        };
      case 'struct':
        return { cost: 40, size: 1 };
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #lookUp(name: string, expr: Expr): Omit<Estimate, 'cost'> {
    for (let known = this.#known; known !== undefined; known = known.outer)
      if (known.name === name) return known.estimate;
    const source = this.variables.get(name);
    return source === undefined ? { size: largest(this.checked.typeOf(expr)) } : { size: source.maxElements, source };
  }

  #select(operand: Estimate, field: string, cost: number, expr: Expr): Estimate {
    const source = operand.source?.fields?.get(field)?.type ?? operand.source?.element;
    return { cost: operand.cost + cost, ...this.#of(source, expr) };
  }

  #of(source: SchemaType | undefined, expr: Expr): Omit<Estimate, 'cost'> {
    return source === undefined ? { size: largest(this.checked.typeOf(expr)) } : { size: source.maxElements, source };
  }

  #call(expr: CallExpr): Estimate {
    const overloads = this.checked.overloadsOf(expr);
    const isMember = overloads.some(({ member }) => member);
    const argExprs = expr.target !== undefined && isMember ? [expr.target, ...expr.args] : expr.args;
    const args = argExprs.map((arg) => this.estimate(arg));
    const total = sum(args);
    switch (expr.name) {
      case '_&&_':
      case '_||_':
        return { cost: total, size: 1 };
      case '_?_:_': {
        const [condition, first, second] = args as [Estimate, Estimate, Estimate];
        const larger = first.size >= second.size ? first : second;
        return { ...larger, cost: condition.cost + Math.max(first.cost, second.cost) };
      }
      case '_[_]':
      case '_[?_]':
        return { cost: total + 1, ...this.#of(args[0]?.source?.element, expr) };
      case '_?._': {
        const [operand] = args as [Estimate];
        const [, field] = expr.args;
        const name = field?.kind === 'const' && typeof field.value === 'string' ? field.value : '';
        return this.#select({ ...operand, cost: total }, name, 1, expr);
      }
      default:
    }
    const sizes = args.map(({ size }) => size);
    const cost = Math.max(0, ...overloads.map((overload) => overload.cost.of(sizes)));
    const [known] = overloads;
    const size = known?.cost.result?.(sizes) ?? largest(this.checked.typeOf(expr));
    const source = PASSING.has(expr.name) ? args[0]?.source : undefined;
    return { cost: total + cost, size, ...(source === undefined ? {} : { source }) };
  }

  #comprehension(expr: ComprehensionExpr): Estimate {
    const range = this.estimate(expr.range);
    const initial = this.estimate(expr.initial);
    if (expr.variable === '#unused') {
      return this.#within([[expr.accumulator, initial]], () => {
        const body = this.estimate(expr.result);
        return { ...body, cost: body.cost + initial.cost };
      });
    }
    const element = range.source?.element;
    const isMap = this.checked.typeOf(expr.range).kind === 'map';
    const ofElement =
      element === undefined ? { size: MAX_REQUEST_SIZE } : { size: element.maxElements, source: element };
    // Nothing bounds the keys of a schema's map, and kube-apiserver takes what it knows of them as their size: 0.
    const key = { size: !isMap ? 1 : range.source === undefined ? MAX_REQUEST_SIZE : 0 };
    const single = isMap ? key : ofElement;
    const grows = expr.initial.kind === 'list' || expr.initial.kind === 'map';
    const accumulator = { size: grows ? range.size : initial.size };
    const variables: (readonly [string, Omit<Estimate, 'cost'>])[] = [
      [expr.accumulator, accumulator],
      [expr.variable, expr.variable2 === undefined ? single : key],
    ];
    if (expr.variable2 !== undefined) variables.push([expr.variable2, ofElement]);
    return this.#within(variables, () => {
      const each = this.estimate(expr.condition).cost + this.estimate(expr.step).cost;
      const result = this.estimate(expr.result);
      const keepsElements = keptVariable(expr) === expr.variable;
      const source = grows && keepsElements ? range.source : undefined;
      return {
        cost: range.cost + initial.cost + range.size * each + result.cost,
        size: grows ? range.size : result.size,
        ...(source === undefined ? {} : { source }),
      };
    });
  }

  #within<Result>(variables: readonly (readonly [string, Omit<Estimate, 'cost'>])[], reckon: () => Result): Result {
    const outer = this.#known;
    for (const [name, estimate] of variables) this.#known = { name, estimate, outer: this.#known };
    const result = reckon();
    this.#known = outer;
    return result;
  }
}

/** Functions whose result is their first argument, or all of its parts. */
const PASSING: ReadonlySet<string> = new Set(['_+_', 'dyn', 'optional.of', 'orValue', 'value']);

/** The variable that a `filter` gathers as it is. */
function keptVariable({ step }: ComprehensionExpr): string | undefined {
  if (step.kind !== 'call' || step.name !== '_?_:_') return undefined;
  const grown = step.args[1];
  const list = grown?.kind === 'call' ? grown.args[1] : undefined;
  const element = list?.kind === 'list' ? list.elements[0] : undefined;
  return element?.kind === 'ident' ? element.name : undefined;
}

function listOfSource(element: SchemaType, count: number): SchemaType {
  return {
    type: { kind: 'list', element: element.type },
    adapt: element.adapt,
    maxElements: count,
    minSize: 2,
    element,
  };
}

function sum(estimates: readonly Estimate[]): number {
  return estimates.reduce((total, { cost }) => total + cost, 0);
}

function sizeOfLiteral(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof Uint8Array ? value.length : 1;
}

/** Where nothing is known but the type: as large as a request can make it. */
function largest({ kind }: Type): number {
  return ['string', 'bytes', 'list', 'map', 'dyn'].includes(kind) ? MAX_REQUEST_SIZE : 1;
}
