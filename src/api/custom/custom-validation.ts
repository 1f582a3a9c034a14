import type { FieldError } from '../errors/field-error';
import type { JsonValue, KubeObject } from '../object';
import type { Steps } from '../parts';
import type { CustomVersion } from './custom-resource-definition';
import { checkInParts, checkInSteps, checkThen } from '../validation/check-each';
import type { JsonSchema } from './json-schema';
import { compileRules, type Hearer } from './rules';
import { compileValidation, type Before, type Check } from './schema-validation';
import { validateScaleFields } from './scale';
import { compileEmbeddedCheck, compileListCheck } from './structural-rules';
import { hasManyTrials } from './trials';
import { Unchanged } from './unchanged';

/** The rules of one version of a custom kind, compiled when an object is first written in it. */
export class CustomValidation {
  readonly #version: CustomVersion;
  /** False for schemas of old definitions, which need not be structural. */
  readonly #structural: boolean;
  #checks: ReturnType<CustomValidation['compile']> | undefined;

  constructor(version: CustomVersion, structural: boolean) {
    this.#version = version;
    this.#structural = structural;
  }

  /** How long validation takes does not show in the size of an object. */
  get hasManyTrials(): boolean {
    return this.#compiled().hasManyTrials;
  }

  /** All problems but those of the object's own metadata. */
  validateCreate(object: KubeObject): readonly FieldError[] {
    return [...this.#common(object), ...this.#lists(object)];
  }

  /** What its schema finds wrong with parts that stay as they were is no matter of the change. */
  validateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
    const { root } = this.#compiled();
    return [
      ...changeProblems(root, valueOf(object), valueOf(old), ''),
      ...this.#scale(object),
      ...this.#embedded(object),
      ...this.#changedLists(object, old),
    ];
  }

  /** Of the schema, the part of the status decides alone. */
  validateStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
    const { status } = this.#compiled();
    const [value, before] = [object['status'] as JsonValue | undefined, old['status'] as JsonValue | undefined];
    return [
      ...(value === undefined ? [] : changeProblems(status, value, before, 'status')),
      ...this.#scale(object),
      ...this.#changedLists(object, old),
    ];
  }

  /** Undefined: the schema has none. `heard`: is told of what is wrong, and forgiven. */
  checkRules(
    object: KubeObject,
    old: KubeObject | undefined,
    heard?: Hearer,
  ): Steps<readonly FieldError[]> | undefined {
    return this.#compiled().rules?.check(valueOf(object), old && valueOf(old), heard);
  }

  #common(object: KubeObject): readonly FieldError[] {
    const errors: FieldError[] = [];
    this.#compiled().root?.check(valueOf(object), '', errors);
    return [...errors, ...this.#scale(object), ...this.#embedded(object)];
  }

  #scale(object: KubeObject): readonly FieldError[] {
    const scale = this.#version.subresources?.scale;
    return scale === undefined ? [] : validateScaleFields(object, scale);
  }

  #embedded(object: KubeObject): readonly FieldError[] {
    const errors: FieldError[] = [];
    this.#compiled().embedded?.(valueOf(object), '', errors);
    return errors;
  }

  /** Lists that named something twice before may go on doing so. */
  #changedLists(object: KubeObject, old: KubeObject): readonly FieldError[] {
    const ofNew = (lists: readonly FieldError[]): readonly FieldError[] =>
      lists.length === 0
        ? []
        : checkThen(
            () => this.#lists(old),
            (before) => (before.length > 0 ? [] : lists),
          );
    return checkThen(() => this.#lists(object), ofNew);
  }

  #lists(object: KubeObject): readonly FieldError[] {
    const errors: FieldError[] = [];
    this.#compiled().lists?.(valueOf(object), '', errors);
    return errors;
  }

  #compiled(): ReturnType<CustomValidation['compile']> {
    return (this.#checks ??= this.compile());
  }

  private compile() {
    const schema = this.#version.schema?.openAPIV3Schema;
    const status = schema?.properties?.['status'];
    return {
      hasManyTrials: schema !== undefined && hasManyTrials(schema),
      root: schema && { schema, check: compileValidation(schema) },
      status: status && { schema: status, check: compileValidation(status) },
      embedded: schema && this.#structural ? compileEmbeddedCheck(schema) : undefined,
      rules: schema && this.#structural ? compileRules(schema) : undefined,
      lists: schema && this.#structural ? compileListCheck(schema) : undefined,
    };
  }
}

interface SchemaCheck {
  readonly schema: JsonSchema;
  readonly check: Check;
}

function valueOf(object: KubeObject): JsonValue {
  return object as unknown as JsonValue;
}

function problemsOf({ check }: SchemaCheck, value: JsonValue, path: string, before?: Before): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(value, path, errors, before);
  return errors;
}

/** What has changed is only asked when something is wrong. */
function changeProblems(
  schema: SchemaCheck | undefined,
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
): readonly FieldError[] {
  if (schema === undefined) return [];
  const ofChange = (found: readonly FieldError[]): readonly FieldError[] =>
    found.length === 0 || old === undefined ? found : checkInSteps(() => problemsOfChange(schema, value, old, path));
  return checkThen(() => problemsOf(schema, value, path), ofChange);
}

function* problemsOfChange(
  schema: SchemaCheck,
  value: JsonValue,
  old: JsonValue,
  path: string,
): Steps<readonly FieldError[]> {
  const before = { value: old, unchanged: yield* Unchanged.between(schema.schema, value, old) };
  return yield* checkInParts(() => problemsOf(schema, value, path, before));
}
