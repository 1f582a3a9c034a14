import { StatusError } from '../errors/status-error';
import { CATALOGUE } from '../kinds/catalogue';
import type { KindDefinition, ServedVersion } from '../kinds/kind-definition';
import { apiVersionOf, type KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { StructType } from '../schema/model';
import { mutateBytes, mutateValue, Random, sampleObject } from './body-mutations.fixture';
import { decodeObject } from './json-decode';
import { decodeMessage } from './protobuf-decode';
import { encodeMessage } from './protobuf-encode';
import { decodeEnvelope, encodeEnvelope } from './protobuf-envelope';
import { duplicatesOf, parseObjectBody, strictProblems, type TextFormat } from './request-body';
import { printYaml } from './yaml-print';

/**
 * Whatever a body is, decoding it gives an object or a Status error, and what it gives can be defaulted, converted and
 * written. The number of bodies of each format is bounded; `STERNPOST_FUZZ_BODIES` raises it (a million takes minutes).
 */
const BODIES = Number(process.env.STERNPOST_FUZZ_BODIES ?? 1_500);
const SEED = Number(process.env.STERNPOST_FUZZ_SEED ?? 20_260_301);
const DEPTH = 6;
/** The YAML parser is slow: fewer of these. */
const YAML_SHARE = 20;

interface Target {
  readonly definition: KindDefinition;
  readonly version: ServedVersion;
  readonly type: StructType;
}

const schema = loadBuiltinSchema();
const targets = CATALOGUE.flatMap((definition) =>
  definition.versions.map((version): Target => {
    const type = schema.kind(version.group, version.version, definition.kind);
    if (type === undefined) throw new Error(`the schema has no ${definition.kind}`);
    return { definition, version, type };
  }),
);

/** What becomes of a decoded body before and after it is stored. */
function goOn({ definition, version, type }: Target, decoded: KubeObject): void {
  const defaulted = definition.applyDefaults?.(decoded, version.version) ?? decoded;
  const stored = version.convert?.toStorage(defaulted) ?? defaulted;
  const served = version.convert?.fromStorage(stored) ?? stored;
  definition.written?.fromMemory(stored);
  encodeMessage(type, served);
}

function readText(target: Target, body: Buffer, format: TextFormat): void {
  const { definition, version, type } = target;
  const parsed = parseObjectBody(body, format, definition.kind);
  const { object, unknownFields } = decodeObject(type, parsed, {
    applyDefaults: true,
    collectUnknown: true,
    kind: definition.kind,
    version: version.version,
  });
  strictProblems(format, duplicatesOf(body, format), unknownFields);
  goOn(target, object);
}

function readProtobuf(target: Target, body: Buffer): void {
  const { definition, version, type } = target;
  const { raw } = decodeEnvelope(body);
  const { object } = decodeObject(type, decodeMessage(type, raw), {
    applyDefaults: true,
    collectUnknown: false,
    kind: definition.kind,
    version: version.version,
  });
  goOn(target, object);
}

/** Reads `count` bodies that `make` made; says of the first that ends otherwise than it may what it was. */
function fuzz(
  count: number,
  make: (target: Target, object: Record<string, unknown>, random: Random) => Buffer,
  read: (target: Target, body: Buffer) => void,
): { readonly accepted: number; readonly refused: number } {
  let accepted = 0;
  for (let index = 0; index < count; index++) {
    const random = new Random(SEED + index);
    const target = random.pick(targets);
    const body = make(target, sampleObject(target.type, random, DEPTH), random);
    try {
      read(target, body);
      accepted += 1;
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 400) continue;
      const { group, version } = target.version;
      const shown = `${apiVersionOf(group, version)} ${target.definition.kind}, body ${index}, base64 ${body.toString('base64')}`;
      throw new Error(`not a Status error: ${shown}`, { cause: error });
    }
  }
  return { accepted, refused: count - accepted };
}

/** Both must occur, or the damage is too small or too great to find anything. */
function expectBoth({ accepted, refused }: { readonly accepted: number; readonly refused: number }): void {
  expect(accepted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}

describe('a damaged body is read or refused with a 400', () => {
  const timeout = Math.max(30_000, BODIES * 2);

  it(
    'as JSON',
    () => {
      const make = (_: Target, object: Record<string, unknown>, random: Random): Buffer => {
        const value = random.below(3) === 0 ? object : mutateValue(object, random);
        const text = Buffer.from(JSON.stringify(value));
        return random.below(3) === 0 ? mutateBytes(text, random) : text;
      };
      expectBoth(fuzz(BODIES, make, (target, body) => readText(target, body, 'json')));
    },
    timeout,
  );

  it(
    'as YAML',
    () => {
      const make = (_: Target, object: Record<string, unknown>, random: Random): Buffer =>
        mutateBytes(Buffer.from(printYaml(mutateValue(object, random))), random);
      expectBoth(fuzz(Math.ceil(BODIES / YAML_SHARE), make, (target, body) => readText(target, body, 'yaml')));
    },
    timeout,
  );

  it(
    'as Protobuf',
    () => {
      const make = ({ definition, version, type }: Target, object: Record<string, unknown>, random: Random): Buffer => {
        const canonical = decodeObject(type, object, { applyDefaults: false, collectUnknown: false }).object;
        const message = Buffer.from(encodeMessage(type, canonical));
        const raw = random.below(4) === 0 ? message : mutateBytes(message, random);
        const { kind } = definition;
        const envelope = encodeEnvelope({ apiVersion: apiVersionOf(version.group, version.version), kind, raw });
        return random.below(8) === 0 ? mutateBytes(Buffer.from(envelope), random) : Buffer.from(envelope);
      };
      expectBoth(fuzz(BODIES, make, readProtobuf));
    },
    timeout,
  );
});
