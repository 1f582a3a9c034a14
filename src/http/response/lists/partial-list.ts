import { encodeMessage } from '../../../api/codec/protobuf-encode';
import type { StructType } from '../../../api/schema/model';
import { metadataOf } from '../../../storage/cache/body-metadata';
import type { ItemForm } from './item-form';
import { eachItem } from './list-parts';
import { partialObjectPieces } from '../partial-object';
import { protobufItems, type ListFields } from './protobuf-list';

/**
 * The items of lists that are reduced to metadata (API concepts, "Metadata-only fetches"), which controllers ask for of
 * whole resources: made from the metadata's bytes. Nothing of the kind shows in them, so each form is one for all resources.
 */

/** In this version of meta.k8s.io. */
export function partialJsonItems(apiVersion: string): ItemForm {
  return remembered(`json ${apiVersion}`, () =>
    eachItem(COMMA, true, (entry) => partialObjectPieces(apiVersion, entry)),
  );
}

/** `type` is PartialObjectMetadata, the same each time. */
export function partialProtobufItems(type: StructType, apiVersion: string): ItemForm {
  return remembered(`protobuf ${apiVersion}`, () =>
    protobufItems((entry) => encodeMessage(type, { metadata: metadataOf(entry) }), partialListFields(apiVersion)),
  );
}

/** v1beta1 numbers them the other way round. */
export function partialListFields(apiVersion: string): ListFields {
  return apiVersion.endsWith('/v1beta1') ? { metadata: 2, items: 1 } : { metadata: 1, items: 2 };
}

const COMMA = Buffer.from(',');

const forms = new Map<string, ItemForm>();

function remembered(key: string, make: () => ItemForm): ItemForm {
  let form = forms.get(key);
  if (form === undefined) forms.set(key, (form = make()));
  return form;
}
