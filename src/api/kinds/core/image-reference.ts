/**
 * References of container images (Docker distribution, "reference"): `registry.example.com:5000/team/app:1.2@sha256:...`.
 * The patterns have one way of matching each text, so that hostile ones cost no time.
 */
const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const DOMAIN_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const DOMAIN = `${DOMAIN_LABEL}(?:\\.${DOMAIN_LABEL})*(?::[0-9]+)?`;
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const domainPattern = new RegExp(`^${DOMAIN}$`);
const remainderPattern = new RegExp(`^(?:${COMPONENT})(?:/${COMPONENT})*(?::(${TAG}))?(@${DIGEST})?$`);
/** Would be taken for the identifier of an image. */
const identifierPattern = /^[a-f0-9]{64}$/;

const LATEST = 'latest';
/** Longer ones are no references, so that nothing is known of their tag. */
const MAX_NAME_LENGTH = 255;
/** With tag and digest; of a longer one nothing is known, and to find out would take long. */
const MAX_LENGTH = 10_000;

/** The first part names a registry when it looks like a host; otherwise it belongs to the name. */
function withoutRegistry(image: string): string | undefined {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  if (slash < 0 || (!/[.:]/.test(first) && first !== 'localhost')) return image;
  return domainPattern.test(first) ? image.slice(slash + 1) : undefined;
}

/** The name with its registry, which is Docker's where none is named. */
function nameLength(image: string, remainder: string, tag: string | undefined, digest: string | undefined): number {
  const suffix = (tag === undefined ? 0 : tag.length + 1) + (digest?.length ?? 0);
  const prefix = remainder !== image ? '' : remainder.includes('/') ? 'docker.io/' : 'docker.io/library/';
  return prefix.length + image.length - suffix;
}

/** True when the image may become another one under the same reference: it says `latest`, or nothing. */
export function isLatest(image: string): boolean {
  if (image.length > MAX_LENGTH || identifierPattern.test(image)) return false;
  const remainder = withoutRegistry(image) ?? '';
  const [whole, tag, digest] = remainderPattern.exec(remainder) ?? ['', ''];
  if (whole === '' || nameLength(image, remainder, tag, digest) > MAX_NAME_LENGTH) return false;
  return tag === LATEST || (tag === undefined && digest === undefined);
}
