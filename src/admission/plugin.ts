import { forbidden, type StatusError } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { GroupVersionKind, KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import type { UserInfo } from '../api/user';
import type { RequestTrace } from '../observability/request-trace';
import type { Reinvocation } from './webhooks/reinvocation';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What admission may know of a request. Objects are in the storage version; never changed in place. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  /** The group and plural resource of the URL. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Of the object that was sent: a subresource's is its own. */
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /** Empty for a create with generateName, and for collections. */
  readonly name: string;
  /** What is to be stored, or the options of a connection; undefined for deletes. */
  readonly object: KubeObject | undefined;
  /** What stands there; undefined for creates and connections. */
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with kind and apiVersion; connections have none. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** For plugins that wait for others: made when it is asked for, since most writes need none. */
  readonly signal: () => AbortSignal;
  /** Milliseconds until the request is ended, answered or not. */
  readonly timeLeftMs: () => number;
  /** Takes the steps of work on a large object in turns with other requests. */
  readonly takeSteps: <Result>(steps: Steps<Result>) => Promise<Result>;
  /** Which turn it is of the mutating step, and whether another one is wanted. */
  readonly reinvocation: Reinvocation;
  /** Of a request that is traced. */
  readonly trace?: RequestTrace | undefined;
  /** A Warning header of the answer. */
  readonly warn: (text: string) => void;
  /** An annotation of the audit event. */
  readonly annotate: (key: string, value: string) => void;
  /**
   * For plugins that write: what takes the write back. Runs when the request is refused for certain after the plugin has
   * let it pass, and before the plugin is asked about the same request again.
   */
  readonly onRefused: (undo: () => Promise<void>) => void;
}

/** The same, where there is an object. */
export type ObjectAttributes = AdmissionAttributes & { readonly object: KubeObject };

/**
 * One admission plugin: plain functions over the attributes. `mutate` and `check` run before the kind's own reset and
 * validation, `validate` after it, last before the store. Each refuses by throwing a StatusError.
 */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** `pods`, `pods/status`, `ingresses.networking.k8s.io`: it is asked about these only. Absent: about everything. */
  readonly resources?: readonly string[];
  /** Returns the object as it should go on; the same one when there is nothing to change. Not asked about deletes. */
  readonly mutate?: (attributes: ObjectAttributes) => MaybePromise<KubeObject>;
  /** The same step for what changes nothing: asked in place of `mutate` where that is absent, and about deletes. */
  readonly check?: (attributes: AdmissionAttributes) => MaybePromise<void>;
  readonly validate?: (attributes: AdmissionAttributes) => MaybePromise<void>;
}

function nameOf({ name, object }: AdmissionAttributes): string {
  if (name !== '') return name;
  return object?.metadata.name || object?.metadata.generateName || 'Unknown';
}

/** 403 in the words of admission: `pods "x" is forbidden: <cause>`. */
export function refuse(attributes: AdmissionAttributes, cause: string): StatusError {
  return forbidden({ group: attributes.group, resource: attributes.resource }, nameOf(attributes), cause);
}

/** Of a namespace itself, which its `namespace` names as well, or of one of its subresources. */
export function isNamespace({ group, resource }: Pick<AdmissionAttributes, 'group' | 'resource'>): boolean {
  return group === '' && resource === 'namespaces';
}
