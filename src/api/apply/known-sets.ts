import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../object';
import type { FieldSet } from './field-set';

/** FieldsV1 that came from a client or from storage is parsed once per object: entries are shared between versions. */
const parsed = new WeakMap<JsonObject, FieldSet>();

/**
 * Sets by the text of their FieldsV1. One writer owns the same fields of all its objects and of all
 * their versions: one set for these saves reading it, and what is remembered of a set (its written form, whether it fits
 * the schema) holds for all of them.
 */
const byText = new LRUCache<string, FieldSet>({ max: 2_048 });
const MAX_TEXT_LENGTH = 16_384;

export function setOfFields(fields: JsonObject): FieldSet | undefined {
  return parsed.get(fields);
}

export function rememberFields(fields: JsonObject, set: FieldSet): void {
  parsed.set(fields, set);
}

export function setOfText(text: string): FieldSet | undefined {
  return byText.get(text);
}

/** Of long texts there is little hope that they come again. */
export function rememberText(text: string, set: FieldSet): void {
  if (text.length <= MAX_TEXT_LENGTH) byText.set(text, set);
}
