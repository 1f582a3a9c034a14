/** Renders descriptors as TypeScript: one file per API group version, one readonly type per message. */

import type { FieldDescriptor, FileDescriptor, MessageDescriptor } from '../../src/api/schema/descriptor';

const SCALAR_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number | bigint',
  double: 'number',
  bytes: 'string',
};

/** The JSON form of messages whose JSON is not an object of their fields. */
const JSON_FORMS: Readonly<Record<string, string>> = {
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

interface Found {
  readonly file: FileDescriptor;
  readonly message: MessageDescriptor;
}

/** Of the file that is rendered. */
interface Context {
  readonly file: FileDescriptor;
  /** Every message by its full name. */
  readonly index: ReadonlyMap<string, Found>;
  /** Modules that the text refers to, by the name that they have in it. */
  readonly imports: Map<string, string>;
  /** Types of src/api/object.ts that it refers to. */
  readonly shared: Set<string>;
}

/** File names and texts. `typeFiles`: the descriptors to render; `allFiles`: these and all that they refer to. */
export function renderTypes(
  typeFiles: readonly FileDescriptor[],
  allFiles: readonly FileDescriptor[],
): readonly (readonly [name: string, text: string])[] {
  const index = new Map<string, Found>();
  for (const file of allFiles) {
    for (const message of file.messages) index.set(`${file.package}.${message.name}`, { file, message });
  }
  return typeFiles.map((file) => [`${moduleName(file)}.ts`, renderFile(file, index)] as const);
}

function moduleName(file: FileDescriptor): string {
  return file.path.replace('/', '-');
}

/** `core-v1` is imported as `coreV1`. */
function namespaceName(file: FileDescriptor): string {
  return moduleName(file).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function renderFile(file: FileDescriptor, index: Context['index']): string {
  const imports = new Map<string, string>();
  const shared = new Set<string>();
  const context: Context = { file, index, imports, shared };
  const handWritten = file.package === META_PACKAGE ? [...HAND_WRITTEN] : [];
  const bodies = file.messages
    .filter((message) => message.jsonForm === undefined && !message.wrappedList && !handWritten.includes(message.name))
    .map((message) => renderMessage(message, context));
  const importLines = [...imports].sort().map(([name, module]) => `import type * as ${name} from './${module}';`);
  if (shared.size > 0) importLines.unshift(`import type { ${[...shared].sort().join(', ')} } from '../../object';`);
  if (handWritten.length > 0) importLines.push('', `export type { ${handWritten.join(', ')} } from '../../object';`);
  return `// Generated from proto/${file.path}.proto by scripts/generate.ts.\n${importLines.join('\n')}\n\n${bodies.join('\n\n')}\n`;
}

function renderMessage(message: MessageDescriptor, context: Context): string {
  const lines: string[] = [];
  if (message.kind) lines.push('readonly apiVersion?: string;', 'readonly kind?: string;');
  for (const field of jsonFields(message, context.index)) {
    if (field.description) lines.push(comment(field.description));
    lines.push(renderField(message, field, context));
  }
  return `${comment(message.description ?? message.name)}\nexport type ${message.name} = {\n${lines.map((line) => `  ${line}\n`).join('')}};`;
}

/** Texts may have what ends a comment (`pods/*` and then a slash). */
function comment(text: string): string {
  return `/** ${text.replaceAll('*/', '*\\/')} */`;
}

/** Fields as JSON shows them: those of inlined messages stand among the others. */
function jsonFields(message: MessageDescriptor, index: Context['index']): readonly FieldDescriptor[] {
  return message.fields.flatMap((field) =>
    field.inline ? jsonFields(find(field.type, index).message, index) : [field],
  );
}

function find(name: string, index: Context['index']): Found {
  const found = index.get(name);
  if (found === undefined) throw new Error(`no message ${name}`);
  return found;
}

function renderField(message: MessageDescriptor, field: FieldDescriptor, context: Context): string {
  const target = context.index.get(field.type)?.message;
  const single = typeOf(field.type, context);
  const shapes = { list: `readonly ${bracketed(single)}[]`, map: `Readonly<Record<string, ${single}>>` };
  const type = field.shape === undefined ? single : shapes[field.shape];
  const isObjectMeta = field.name === 'metadata' && field.type === `${META_PACKAGE}.ObjectMeta` && message.kind;
  const name = /^\w+$/.test(field.name) ? field.name : `'${field.name}'`;
  return `readonly ${name}${isObjectMeta ? '' : '?'}: ${type}${mayBeNull(field, target) ? ' | null' : ''};`;
}

/** Where Go writes null: a nil list, map, bytes or pointer that is always written, and the zero time. */
function mayBeNull(field: FieldDescriptor, target: MessageDescriptor | undefined): boolean {
  const zeroTime = (target?.jsonForm === 'Time' || target?.jsonForm === 'MicroTime') && !field.shape && !field.pointer;
  const nilable = field.shape !== undefined || field.pointer === true || field.type === 'bytes';
  return zeroTime || (nilable && (field.required === true || field.always === true));
}

function bracketed(type: string): string {
  return /[| ]/.test(type) ? `(${type})` : type;
}

function typeOf(name: string, context: Context): string {
  const scalar = SCALAR_TYPES[name];
  if (scalar !== undefined) return scalar;
  const { file, message } = find(name, context.index);
  if (message.wrappedList) return 'readonly string[]';
  if (message.jsonForm !== undefined) return jsonForm(message.jsonForm, file, context);
  if (file.package === META_PACKAGE && HAND_WRITTEN.has(message.name)) {
    context.shared.add(message.name);
    return message.name;
  }
  return qualified(message.name, file, context);
}

function jsonForm(form: string, file: FileDescriptor, context: Context): string {
  const type = JSON_FORMS[form];
  if (type === undefined) throw new Error(`${form} has no type`);
  if (/^Json(Value|Object)$/.test(type)) context.shared.add(type);
  return type.replaceAll('JSONSchemaProps', () => qualified('JSONSchemaProps', file, context));
}

function qualified(name: string, file: FileDescriptor, context: Context): string {
  if (file === context.file) return name;
  context.imports.set(namespaceName(file), moduleName(file));
  return `${namespaceName(file)}.${name}`;
}
