/** Renders descriptors as TypeScript: one file per API group version, one readonly type per message. */

const SCALAR_TYPES = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number | bigint',
  double: 'number',
  bytes: 'string',
};

/** The JSON form of messages whose JSON is not an object of their fields. */
const JSON_FORMS = {
  Time: 'string',
  MicroTime: 'string',
  Duration: 'string',
  Quantity: 'string',
  IntOrString: 'number | string',
  RawExtension: 'JsonValue',
  FieldsV1: 'JsonObject',
  JSON: 'JsonValue',
  any: 'JsonValue',
  JSONSchemaPropsOrBool: 'JSONSchemaProps | boolean',
  JSONSchemaPropsOrArray: 'JSONSchemaProps | readonly JSONSchemaProps[]',
  JSONSchemaPropsOrStringArray: 'JSONSchemaProps | readonly string[]',
};

/** Written by hand in src/api/object.ts, because the code that knows no kind uses them. */
const HAND_WRITTEN = new Set(['ObjectMeta', 'OwnerReference', 'ManagedFieldsEntry', 'ListMeta']);
const META_PACKAGE = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/**
 * @param {object[]} typeFiles the descriptors to render
 * @param {object[]} allFiles these and all that they refer to
 * @returns {[string, string][]} file names and texts
 */
function renderTypes(typeFiles, allFiles) {
  const index = new Map();
  for (const file of allFiles) {
    for (const message of file.messages) index.set(`${file.package}.${message.name}`, { file, message });
  }
  return typeFiles.map((file) => [`${moduleName(file)}.ts`, renderFile(file, index)]);
}

function moduleName(file) {
  return file.path.replace('/', '-');
}

/** `core-v1` is imported as `coreV1`. */
function namespaceName(file) {
  return moduleName(file).replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

function renderFile(file, index) {
  const imports = new Map();
  const shared = new Set();
  const context = { file, index, imports, shared };
  const handWritten = file.package === META_PACKAGE ? [...HAND_WRITTEN] : [];
  const bodies = file.messages
    .filter((message) => message.jsonForm === undefined && !message.wrappedList && !handWritten.includes(message.name))
    .map((message) => renderMessage(message, context));
  const importLines = [...imports].sort().map(([name, module]) => `import type * as ${name} from './${module}';`);
  if (shared.size > 0) importLines.unshift(`import type { ${[...shared].sort().join(', ')} } from '../../object';`);
  if (handWritten.length > 0) importLines.push('', `export type { ${handWritten.join(', ')} } from '../../object';`);
  return `// Generated from proto/${file.path}.proto by scripts/generate.js.\n${importLines.join('\n')}\n\n${bodies.join('\n\n')}\n`;
}

function renderMessage(message, context) {
  const lines = [];
  if (message.kind) lines.push('readonly apiVersion?: string;', 'readonly kind?: string;');
  for (const field of jsonFields(message, context.index)) {
    if (field.description) lines.push(comment(field.description));
    lines.push(renderField(message, field, context));
  }
  return `${comment(message.description ?? message.name)}\nexport type ${message.name} = {\n${lines.map((line) => `  ${line}\n`).join('')}};`;
}

/** Texts may have what ends a comment (`pods/*` and then a slash). */
function comment(text) {
  return `/** ${text.replaceAll('*/', '*\\/')} */`;
}

/** Fields as JSON shows them: those of inlined messages stand among the others. */
function jsonFields(message, index) {
  return message.fields.flatMap((field) => (field.inline ? jsonFields(index.get(field.type).message, index) : [field]));
}

function renderField(message, field, context) {
  const target = context.index.get(field.type)?.message;
  const single = typeOf(field.type, context);
  const type =
    { list: `readonly ${bracketed(single)}[]`, map: `Readonly<Record<string, ${single}>>` }[field.shape] ?? single;
  const isObjectMeta = field.name === 'metadata' && field.type === `${META_PACKAGE}.ObjectMeta` && message.kind;
  const name = /^\w+$/.test(field.name) ? field.name : `'${field.name}'`;
  return `readonly ${name}${isObjectMeta ? '' : '?'}: ${type}${mayBeNull(field, target) ? ' | null' : ''};`;
}

/** Where Go writes null: a nil list, map, bytes or pointer that is always written, and the zero time. */
function mayBeNull(field, target) {
  const zeroTime = (target?.jsonForm === 'Time' || target?.jsonForm === 'MicroTime') && !field.shape && !field.pointer;
  const nilable = field.shape !== undefined || field.pointer || field.type === 'bytes';
  return zeroTime || (nilable && (field.required || field.always));
}

function bracketed(type) {
  return /[| ]/.test(type) ? `(${type})` : type;
}

function typeOf(name, context) {
  if (SCALAR_TYPES[name] !== undefined) return SCALAR_TYPES[name];
  const { file, message } = context.index.get(name);
  if (message.wrappedList) return 'readonly string[]';
  if (message.jsonForm !== undefined) return jsonForm(message.jsonForm, file, context);
  if (file.package === META_PACKAGE && HAND_WRITTEN.has(message.name)) {
    context.shared.add(message.name);
    return message.name;
  }
  return qualified(message.name, file, context);
}

function jsonForm(form, file, context) {
  const type = JSON_FORMS[form];
  if (/^Json(Value|Object)$/.test(type)) context.shared.add(type);
  return type.replaceAll('JSONSchemaProps', () => qualified('JSONSchemaProps', file, context));
}

function qualified(name, file, context) {
  if (file === context.file) return name;
  context.imports.set(namespaceName(file), moduleName(file));
  return `${namespaceName(file)}.${name}`;
}

module.exports = { renderTypes };
