import { stringifyExact } from '../../api/codec/exact-json';
import { badRequest } from '../../api/errors/status-error';
import type { KubeObject, ListMeta, ObjectMeta } from '../../api/object';
import type { TableDefinition } from '../../api/kinds/kind-definition';
import type { CacheEntry } from '../../storage/cache/cache';
import type { ServedResource } from '../../resources/served-resource';
import { partialObject, partialObjectPieces } from './partial-object';
import { LONGEST_REMEMBERED_LIST, wireFormOf } from './wire-form';

/** What a row carries of its object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** For kinds that declare no columns. */
const DEFAULT_TABLE: TableDefinition = {
  columns: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'The name of the object, unique among the objects of its kind in its namespace.',
      priority: 0,
    },
    {
      name: 'Created At',
      type: 'date',
      format: '',
      description: 'When the server created the object, in UTC.',
      priority: 0,
    },
  ],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

/** The query's `includeObject`; absent and empty mean the metadata. Throws a 400 for other words. */
export function parseIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export interface TableOptions {
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`. */
  readonly apiVersion: string;
  readonly includeObject: IncludeObject;
  /** For ages: milliseconds since the epoch. */
  readonly now: number;
}

const CLOSING = Buffer.from('}');

/** Makes the rows and columns of one served resource. */
export class TableWriter {
  private readonly definition: TableDefinition;

  constructor(
    private readonly served: ServedResource,
    private readonly options: TableOptions,
  ) {
    this.definition = served.table ?? served.definition.table ?? DEFAULT_TABLE;
  }

  /** Rows of large objects are to be filled in parts (`fill-later.ts`). */
  get hasLongCells(): boolean {
    return this.definition.longCells !== undefined;
  }

  /** How many times an object is looked through for its row. */
  get weight(): number {
    return this.definition.longCells ?? 1;
  }

  /** All of a Table but its rows. `withColumns` is false for all but the first event of a watch. */
  table(metadata: ListMeta, rows: readonly unknown[], withColumns = true): Readonly<Record<string, unknown>> {
    return {
      kind: 'Table',
      apiVersion: this.options.apiVersion,
      metadata,
      columnDefinitions: withColumns ? this.definition.columns : null,
      rows,
    };
  }

  /** A list's entries in the order that its kind wants. */
  sorted(entries: readonly CacheEntry[]): readonly CacheEntry[] {
    const compare = this.definition.compare;
    return compare === undefined ? entries : [...entries].sort((left, right) => compare(left.object, right.object));
  }

  row(entry: CacheEntry): Readonly<Record<string, unknown>> {
    return this.rowOf(entry.object, () => wireFormOf(this.served).object(entry));
  }

  /** `stored` is in the storage version, `inVersion` gives it in the requested one. */
  rowOf(stored: KubeObject, inVersion: () => KubeObject): Readonly<Record<string, unknown>> {
    return { ...this.cellsOf(stored, inVersion), object: this.includedObject(stored.metadata, inVersion) };
  }

  /** The JSON text of a row of a list, in pieces, of which the metadata's is not made anew. */
  rowPieces(entry: CacheEntry, among: readonly CacheEntry[]): readonly Uint8Array[] {
    const stored = among.length <= LONGEST_REMEMBERED_LIST ? entry.object : entry.parse();
    const inVersion = (): KubeObject => wireFormOf(this.served).convert(stored);
    if (this.options.includeObject !== 'Metadata') return [Buffer.from(stringifyExact(this.rowOf(stored, inVersion)))];
    const cells = stringifyExact(this.cellsOf(stored, inVersion));
    const object = partialObjectPieces(this.options.apiVersion, entry);
    return [Buffer.from(`${cells.slice(0, -1)},"object":`), ...object, CLOSING];
  }

  private cellsOf(stored: KubeObject, inVersion: () => KubeObject): Readonly<Record<string, unknown>> {
    const { served, options, definition } = this;
    const conditions = definition.conditions?.(stored) ?? [];
    return {
      cells: definition.cells(served.table === undefined ? stored : inVersion(), options.now),
      ...(conditions.length === 0 ? {} : { conditions }),
    };
  }

  private includedObject(metadata: ObjectMeta, inVersion: () => KubeObject): unknown {
    switch (this.options.includeObject) {
      case 'None':
        return null;
      case 'Object':
        return inVersion();
      case 'Metadata':
        return partialObject(this.options.apiVersion, metadata);
    }
  }
}
