import type { JsonObject, JsonValue } from '../object';
import { jsonEqual } from '../patch/json-equal';
import type { FieldSet } from './field-set';
import { isList, isObject, memberOf } from './members';
import { ANY_MAP, type ListMergeType, type MapMergeType, type MergeType } from './merge-type';

type Maybe = JsonValue | undefined;

/**
 * One thing that a walk over a value meets: the name of a member, a part of an item's name, or one of the marks below.
 * Members that are leaves have no mark.
 */
type Step = string | number | bigint | boolean | typeof OPEN | typeof CLOSE | typeof NULL | typeof SAME | typeof ABSENT;

const OPEN = Symbol('begin of what merges piece by piece');
const CLOSE = Symbol('end of what merges piece by piece');
const NULL = Symbol('null');
const SAME = Symbol('as before');
/** An item without this part of its name is called by the key's default. */
const ABSENT = Symbol('absent');

/**
 * What field sets depend on, and nothing else of the values: two values of one type have one shape only if `compare` with
 * `before` finds the same fields in both, and so does `toFieldSet`. Members follow one another as they do in the value, so
 * values with the same fields may have different shapes; those of one writer hardly do.
 *
 * Shapes are found step by step, as the hidden classes of a JavaScript engine: mostly a step is the one that was taken
 * from here the first time, so that the walk neither builds nor hashes anything.
 */
class Shape {
  /** Of the values that end here. */
  set: FieldSet | undefined = undefined;
  private firstStep: Step | undefined = undefined;
  private first: Shape | undefined = undefined;
  private others: Map<Step, Shape> | undefined = undefined;

  after(step: Step): Shape {
    if (step === this.firstStep) return this.first as Shape;
    return this.others?.get(step) ?? this.grow(step);
  }

  private grow(step: Step): Shape {
    const next = new Shape();
    bytes += SHAPE_BYTES + (typeof step === 'string' ? step.length : 0);
    if (this.first === undefined) {
      this.firstStep = step;
      this.first = next;
    } else {
      (this.others ??= new Map<Step, Shape>()).set(step, next);
    }
    return next;
  }
}

/** About what is taken by a shape besides the text of its step, and by a set for each step to its shape. */
const SHAPE_BYTES = 64;
const SET_BYTES = 256;
/** Beyond this all is forgotten: some writers never use a name twice. */
export const MOST_SHAPE_BYTES = 32 * 1024 * 1024;
let limitBytes = MOST_SHAPE_BYTES;

/** For machines with less memory than plenty. */
export function limitRememberedShapes(bytesAtMost: number): void {
  limitBytes = bytesAtMost;
}

/** What is remembered now takes about so many bytes. */
export function rememberedShapeBytes(): number {
  return bytes;
}

/** A value of more steps has no shape. */
const MAX_STEPS = 4_096;

/** Where walks begin that compare with what was before, and those that do not. */
let compared = new WeakMap<MergeType, Shape>();
let alone = new WeakMap<MergeType, Shape>();
let bytes = 0;

function beginning(type: MergeType, before: Maybe): Shape {
  if (bytes > limitBytes) {
    compared = new WeakMap();
    alone = new WeakMap();
    bytes = 0;
  }
  const beginnings = before === undefined ? alone : compared;
  let shape = beginnings.get(type);
  if (shape === undefined) beginnings.set(type, (shape = new Shape()));
  return shape;
}

/** The shape of a value, which has a place for its set. */
export interface ShapeFound {
  readonly shape: { readonly set: FieldSet | undefined };
}

/**
 * The shape of a value: a writer's objects mostly have the same fields, and the set is made for the first of them. `before`
 * is the same for all values of a type, where it is not absent. Undefined: the value has none.
 */
export function shapeOf(type: MergeType, before: Maybe, value: JsonValue): ShapeFound | undefined {
  const walk = new Walk(beginning(type, before));
  return walk.visit(type, before, value) ? walk : undefined;
}

/** From now on all values of the shape have that set. */
export function rememberSet(found: ShapeFound, set: FieldSet): void {
  const { shape, steps } = found as Walk;
  shape.set = set;
  bytes += steps * SET_BYTES;
}

/** Its methods answer whether the value fits its type and is short enough; else it has no shape. */
class Walk {
  steps = 0;

  constructor(public shape: Shape) {}

  visit(type: MergeType, before: Maybe, value: JsonValue): boolean {
    if (before !== undefined && jsonEqual(before, value)) return this.step(SAME);
    if (value === null) return this.step(NULL);
    switch (type.kind) {
      case 'scalar':
        return true;
      case 'any':
        return type.atomic || !isObject(value) || this.visitMembers(ANY_MAP, before, value);
      case 'map':
        return isObject(value) && (type.atomic || this.visitMembers(type, before, value));
      case 'list':
        return isList(value) && (type.relation === 'atomic' || this.visitItems(type, before, value));
    }
  }

  private visitMembers(type: MapMergeType, before: Maybe, value: JsonObject): boolean {
    this.step(OPEN);
    for (const name in value) {
      const member = value[name];
      if (member === undefined) continue;
      const memberType = type.typeOf(name);
      if (memberType === undefined || !this.step(name)) return false;
      if (!this.visit(memberType, isObject(before) ? memberOf(before, name) : undefined, member)) return false;
    }
    return this.step(CLOSE);
  }

  private visitItems(type: ListMergeType, before: Maybe, items: readonly JsonValue[]): boolean {
    // Items that were there before would have to be found by their names.
    if (isList(before) && before.length > 0) return false;
    this.step(OPEN);
    for (const item of items) if (!this.visitItem(type, item)) return false;
    return this.step(CLOSE);
  }

  private visitItem(type: ListMergeType, item: JsonValue): boolean {
    if (type.relation === 'set') return typeof item !== 'object' && this.step(item);
    if (!isObject(item)) return false;
    for (const { name } of type.keys) {
      const part = memberOf(item, name) ?? ABSENT;
      if (typeof part === 'object' || !this.step(part)) return false;
    }
    return this.visit(type.items, undefined, item);
  }

  private step(step: Step): boolean {
    this.shape = this.shape.after(step);
    return ++this.steps <= MAX_STEPS;
  }
}
