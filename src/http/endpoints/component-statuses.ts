import { StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import { localEntry } from '../../registry/local-entry';
import type { CacheEntry } from '../../storage/cache/cache';
import type { Revision } from '../../storage/store';
import type { Endpoint } from './endpoint';
import { parseCollectionOptions } from '../request/list-options';
import { entryResponse } from '../response/api-response';

/** A part of the control plane whose health `componentstatuses` shows. */
export interface Component {
  readonly name: string;
  /** Does not throw. */
  readonly probe: (signal: AbortSignal) => Promise<ComponentHealth>;
}

export interface ComponentHealth {
  readonly healthy: boolean;
  /** What the component answered, or why it did not. */
  readonly message: string;
}

const NO_REVISION = 0 as Revision;

async function statusOf({ name, probe }: Component, signal: AbortSignal): Promise<CacheEntry> {
  const { healthy, message } = await probe(signal);
  const object: KubeObject = {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name, creationTimestamp: null },
    conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', ...(message === '' ? {} : { message }) }],
  };
  return localEntry(name, NO_REVISION, object);
}

/** `componentstatuses` are not stored: each request asks the components. */
export function componentStatusEndpoints(components: readonly Component[]): ReadonlyMap<string, Endpoint> {
  const get: Endpoint = async ({ context, served }) => {
    const { name } = context.info;
    const component = components.find((one) => one.name === name);
    if (component === undefined) throw new StatusError(500, undefined, `Component not found: ${name}`);
    return entryResponse(200, await statusOf(component, context.signal), served);
  };
  const list: Endpoint = async ({ context, served }) => {
    const { selection } = parseCollectionOptions(context.info, served).list;
    const all = await Promise.all(components.map((component) => statusOf(component, context.signal)));
    const entries = all.filter((entry) => selection?.matches(entry) ?? true);
    return { type: 'list', result: { revision: NO_REVISION, entries }, served };
  };
  return new Map([
    ['get /componentstatuses', get],
    ['list /componentstatuses', list],
  ]);
}
