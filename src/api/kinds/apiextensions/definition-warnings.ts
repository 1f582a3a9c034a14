import type { KubeObject } from '../../object';
import { stringAt } from '../field-values';

/** What a definition asks for and does not get yet. */
export function definitionWarnings(definition: KubeObject): readonly string[] {
  const isConverted = stringAt(definition, 'spec', 'conversion', 'strategy') === 'Webhook';
  return isConverted ? ['spec.conversion: conversion webhooks are not called by this server yet: None is used'] : [];
}
