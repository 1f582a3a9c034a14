import type { KubeObject } from '../api/object';
import type { FlowSchemaSpec, PolicyRulesWithSubjects } from '../api/schema/generated/flowcontrol-v1beta1';
import flowControl from './default-configuration.json';

/** Whatever is stored, these two of each kind decide about requests that nothing else is for. */
export const EXEMPT = 'exempt';
export const CATCH_ALL = 'catch-all';

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** A PriorityLevelConfiguration, of whichever version. */
export interface LevelConfiguration {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  /** Its part of the seats, against the parts of the others. */
  readonly shares: number;
  /** Undefined: what finds no seat is turned away. */
  readonly queuing: Queuing | undefined;
}

/** A FlowSchema, of whichever version. */
export interface SchemaConfiguration {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly precedence: number;
  /** How its requests are parted into flows; undefined: they are one. */
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly PolicyRulesWithSubjects[];
}

/** What an object says of the level's limits: the shares have had two names. */
interface LimitedSpec {
  readonly assuredConcurrencyShares?: number;
  readonly nominalConcurrencyShares?: number | null;
  readonly limitResponse?: { readonly type?: string; readonly queuing?: Partial<Queuing> };
}

const DEFAULT_SHARES = 30;
const DEFAULT_QUEUING: Queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };
const DEFAULT_PRECEDENCE = 1000;

export function readLevel({ metadata, ...object }: KubeObject): LevelConfiguration {
  const { type, limited = {} } = (object['spec'] ?? {}) as { readonly type?: string; readonly limited?: LimitedSpec };
  const { limitResponse = {}, assuredConcurrencyShares, nominalConcurrencyShares } = limited;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    isExempt: type === 'Exempt',
    shares: nominalConcurrencyShares ?? assuredConcurrencyShares ?? DEFAULT_SHARES,
    queuing: limitResponse.type === 'Queue' ? { ...DEFAULT_QUEUING, ...limitResponse.queuing } : undefined,
  };
}

export function readSchema({ metadata, ...object }: KubeObject): SchemaConfiguration {
  const spec = (object['spec'] ?? {}) as FlowSchemaSpec;
  const method = spec.distinguisherMethod?.type;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    level: spec.priorityLevelConfiguration?.name ?? '',
    precedence: spec.matchingPrecedence ?? DEFAULT_PRECEDENCE,
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    rules: spec.rules ?? [],
  };
}

/** As requests try them. */
export function bySchemaOrder(left: SchemaConfiguration, right: SchemaConfiguration): number {
  if (left.precedence !== right.precedence) return left.precedence - right.precedence;
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

const isMandatory = ({ name }: { readonly name: string }): boolean => name === EXEMPT || name === CATCH_ALL;

/** What holds while the objects of these names are not there. */
export const MANDATORY_LEVELS: readonly LevelConfiguration[] = flowControl.PriorityLevelConfiguration.filter(
  isMandatory,
).map(({ name, spec }) => readLevel({ metadata: { name }, spec }));
export const MANDATORY_SCHEMAS: readonly SchemaConfiguration[] = flowControl.FlowSchema.filter(isMandatory).map(
  ({ name, spec }) => readSchema({ metadata: { name }, spec }),
);
