import type { JsonValue } from '../object';
import type { ListType, MapType, SpecialName } from './model';

/**
 * The shape of `generated/schema.json`: what scripts/generate.ts has read out of `proto/`, before names are resolved.
 * Absent keys mean false or none. `proto/sternpost/options.proto` explains each option.
 */
export interface SchemaDescriptor {
  readonly files: readonly FileDescriptor[];
}

export interface FileDescriptor {
  /** Below `proto/`, without extension: `apps/v1`. */
  readonly path: string;
  readonly package: string;
  /** The API group and version; absent for files of shared messages (Quantity, RawExtension). */
  readonly group?: string;
  readonly version?: string;
  readonly messages: readonly MessageDescriptor[];
}

export interface MessageDescriptor {
  readonly name: string;
  readonly description?: string;
  readonly kind?: boolean;
  readonly struct?: MapType;
  readonly jsonForm?: SpecialName | 'any';
  readonly wrappedList?: boolean;
  readonly jsonOnly?: boolean;
  /** The field that says which of the others is set, then those. */
  readonly union?: readonly string[];
  readonly fields: readonly FieldDescriptor[];
}

export interface FieldDescriptor {
  /** In JSON; for an inlined message the name on the wire. */
  readonly name: string;
  /** In Protobuf, where that differs. */
  readonly wireName?: string;
  readonly number: number;
  /** A scalar of Protobuf or the full name of a message; of the items or values for lists and maps. */
  readonly type: string;
  readonly shape?: 'list' | 'map';
  readonly inline?: boolean;
  readonly pointer?: boolean;
  readonly required?: boolean;
  readonly always?: boolean;
  readonly list?: ListType;
  readonly keys?: readonly string[];
  readonly map?: MapType;
  readonly structure?: MapType;
  readonly patch?: 'merge' | 'replace';
  readonly mergeKey?: string;
  readonly retainKeys?: boolean;
  readonly default?: JsonValue;
  readonly enum?: readonly string[];
  readonly description?: string;
}
