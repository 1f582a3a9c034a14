import { forbiddenField, required, tooLong, type FieldError } from '../errors/field-error';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type {
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
  VolumeError,
} from '../schema/generated/storage-v1';
import { validateCsiDriverName } from './csi';
import { structLiteral, validateUnchanged } from './immutable';
import { validateInlineVolume } from './persistent-volume';
import { validateDnsSubdomain } from './pod/field-rules';
import { byteLength } from './syntax-error';

const EXACTLY_ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_LENGTH = 1024;

function validateSource({ inlineVolumeSpec: inline, persistentVolumeName: name }: VolumeAttachmentSource) {
  if (!inline && name === undefined) return [required('spec.source', EXACTLY_ONE)];
  if (inline && name !== undefined) return [forbiddenField('spec.source', EXACTLY_ONE)];
  if (inline) return validateInlineVolume(inline, 'spec.source.inlineVolumeSpec');
  return name === ''
    ? [required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName')]
    : [];
}

function validateError(error: VolumeError | undefined, path: string): readonly FieldError[] {
  return (error?.message ?? '').length > MAX_MESSAGE_LENGTH ? [tooLong(`${path}.message`, MAX_MESSAGE_LENGTH)] : [];
}

function validateStatus(object: KubeObject): readonly FieldError[] {
  const { attachmentMetadata, attachError, detachError } = (object['status'] ?? {}) as VolumeAttachmentStatus;
  const bytes = Object.entries(attachmentMetadata ?? {}).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(value),
    0,
  );
  return [
    ...(bytes > MAX_METADATA_BYTES ? [tooLong('status.attachmentMetadata', MAX_METADATA_BYTES)] : []),
    ...validateError(attachError, 'status.attachError'),
    ...validateError(detachError, 'status.detachError'),
  ];
}

function specOf(object: KubeObject): VolumeAttachmentSpec {
  return object['spec'] ?? {};
}

function validateSpecAndStatus(object: KubeObject): readonly FieldError[] {
  const { attacher = '', source = {}, nodeName = '' } = specOf(object);
  return [
    ...(attacher === '' ? [required('spec.attacher', '')] : []),
    ...validateSource(source),
    ...validateDnsSubdomain(nodeName, 'spec.nodeName'),
    ...validateStatus(object),
  ];
}

/** With v1, names were checked that had been free before. */
export function validateVolumeAttachment(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const errors = validateSpecAndStatus(object);
  if (requested?.version === 'v1beta1') return errors;
  const { attacher = '', source } = specOf(object);
  const name = source?.persistentVolumeName;
  return [
    ...errors,
    ...validateCsiDriverName(attacher, 'spec.attacher'),
    ...(name === undefined ? [] : validateDnsSubdomain(name, 'spec.source.persistentVolumeName')),
  ];
}

function specLiteral(object: KubeObject): string {
  const { attacher = '', source = {}, nodeName = '' } = specOf(object);
  if (Object.keys(source).length > 0) return structLiteral('storage.VolumeAttachmentSpec', object['spec']);
  const nothing = '{PersistentVolumeName:(*string)(nil), InlineVolumeSpec:(*core.PersistentVolumeSpec)(nil)}';
  const [attacherText, nodeText] = [attacher, nodeName].map((text) => JSON.stringify(text));
  return `storage.VolumeAttachmentSpec{Attacher:${attacherText}, Source:storage.VolumeAttachmentSource${nothing}, NodeName:${nodeText}}`;
}

export function validateVolumeAttachmentUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = validateSpecAndStatus(object);
  // The wire tells twice what is wrong with an attachment that is changed.
  return [...errors, ...errors, ...validateUnchanged(object['spec'], old['spec'], 'spec', () => specLiteral(object))];
}
