/**
 * An expression of the Common Expression Language as a tree, with macros expanded into comprehensions (CEL specification,
 * "Macros"). `position` is an index into the text, for messages.
 */
export type Expr = ConstExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr;

interface Node {
  readonly position: number;
}

/** A 64-bit unsigned integer; a plain bigint is a signed one. */
export class Uint {
  constructor(readonly value: bigint) {}
}

export type Literal = null | boolean | bigint | number | string | Uint | Uint8Array;

export interface ConstExpr extends Node {
  readonly kind: 'const';
  readonly value: Literal;
}

export interface IdentExpr extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

export interface SelectExpr extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly testOnly: boolean;
}

export interface CallExpr extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
}

export interface ListExpr extends Node {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  /** Which elements are `?element`. */
  readonly optional: ReadonlySet<number>;
}

export interface MapExpr extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface StructExpr extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly field: string;
    readonly value: Expr;
    readonly optional: boolean;
    readonly position: number;
  }[];
}

export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension';
  readonly range: Expr;
  readonly variable: string;
  /** Of two-variable comprehensions: the element, while `variable` is its index or key. */
  readonly variable2?: string;
  readonly accumulator: string;
  readonly initial: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** The name of the accumulator of every macro; no expression can say it. */
export const ACCUMULATOR = '@result';
