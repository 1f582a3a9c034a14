import type { FieldError } from '../errors/field-error';
import type { JsonValue, KubeObject } from '../object';
import type { Steps } from '../parts';
import type { CustomVersion } from './custom-resource-definition';
import { checkThen } from '../validation/check-each';
import { compileRules } from './rules';
import { compileValidation } from './schema-validation';
import { validateScaleFields } from './scale';
import { compileEmbeddedCheck, compileListCheck } from './structural-rules';

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

  /** All problems but those of the object's own metadata. */
  validateCreate(object: KubeObject): readonly FieldError[] {
    return [...this.#common(object), ...this.#lists(object)];
  }

  /** Lists that named something twice before may go on doing so. */
  validateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
    const ofNew = (lists: readonly FieldError[]): readonly FieldError[] =>
      lists.length === 0
        ? []
        : checkThen(
            () => this.#lists(old),
            (before) => (before.length > 0 ? [] : lists),
          );
    return [...this.#common(object), ...checkThen(() => this.#lists(object), ofNew)];
  }

  /** Undefined: the schema has none. */
  checkRules(object: KubeObject, old: KubeObject | undefined): Steps<readonly FieldError[]> | undefined {
    return this.#compiled().rules?.check(object as unknown as JsonValue, old as unknown as JsonValue | undefined);
  }

  #common(object: KubeObject): readonly FieldError[] {
    const errors: FieldError[] = [];
    const { schema, embedded } = this.#compiled();
    schema?.(object as unknown as JsonValue, '', errors);
    const scale = this.#version.subresources?.scale;
    if (scale !== undefined) errors.push(...validateScaleFields(object, scale));
    embedded?.(object as unknown as JsonValue, '', errors);
    return errors;
  }

  #lists(object: KubeObject): readonly FieldError[] {
    const errors: FieldError[] = [];
    this.#compiled().lists?.(object as unknown as JsonValue, '', errors);
    return errors;
  }

  #compiled(): ReturnType<CustomValidation['compile']> {
    return (this.#checks ??= this.compile());
  }

  private compile() {
    const schema = this.#version.schema?.openAPIV3Schema;
    return {
      schema: schema && compileValidation(schema),
      embedded: schema && this.#structural ? compileEmbeddedCheck(schema) : undefined,
      rules: schema && this.#structural ? compileRules(schema) : undefined,
      lists: schema && this.#structural ? compileListCheck(schema) : undefined,
    };
  }
}
