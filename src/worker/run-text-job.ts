import { parseExact, stringifyExact } from '../api/codec/exact-json';
import { JsonSyntaxError, duplicateFields, parseJson } from '../api/codec/json-syntax';
import { YamlSyntaxError, readYaml } from '../api/codec/yaml';
import { printYaml } from '../api/codec/yaml-print';
import type { TextResult, TextJob } from './text-jobs';

/** Does a job of the worker thread. Throws only for faults of the server's own. */
export function runTextJob({ kind, bytes }: TextJob): TextResult {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  try {
    switch (kind) {
      case 'yamlToJson': {
        const { value, duplicates } = readYaml(text);
        return { bytes: toBytes(stringifyExact(value)), duplicates };
      }
      case 'jsonToYaml':
        return { bytes: toBytes(printYaml(parseExact(text))) };
      case 'inspectJson':
        parseJson(text, buffer);
        return { duplicates: duplicateFields(text) };
    }
  } catch (error) {
    if (error instanceof YamlSyntaxError || error instanceof JsonSyntaxError) return { problem: error.message };
    throw error;
  }
}

/** Bytes with a buffer of their own, which can be handed to another thread. */
function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
